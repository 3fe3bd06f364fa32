"""The constants of PBS's programming interface, for hooks that import them from here."""

from pbs._constants import names as _names

globals().update(_names({}))
