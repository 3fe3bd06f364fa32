"""The values of resources, from their text and back."""

import re

import pbs._types as types

# The tables of attributes, resources and events, as the daemon tells them.
schema = {"job": {}, "vnode": {}, "queue": {}, "server": {}, "resv": {}, "resources": {}, "events": {}}


def boolean(text):
    """Whether a text says yes."""
    return str(text).lower() in ("true", "t", "yes", "y", "1")


_RESOURCE = {
    "long": int, "float": float, "size": types.size, "time": types.duration, "boolean": boolean,
    "string": str, "string_array": str,
}
_RESOURCE_CLASS = {"select": types.select, "select_reliable_startup": types.select, "select_requested": types.select, "place": types.place, "software": types.software}


def resource_value(name, text):
    """The value of a resource from its text."""
    if text is None:
        return None
    make = _RESOURCE_CLASS.get(name) or _RESOURCE.get(schema["resources"].get(name), str)
    try:
        return make(text)
    except ValueError:
        return text


def type_of(value):
    """The type of a new resource, by its first value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, types.size):
        return "size"
    if isinstance(value, int):
        return "long"
    if isinstance(value, float):
        return "float"
    return "string"


_WHOLE = re.compile(r"^\s*[+-]?[0-9]+\s*$", re.ASCII)
_DECIMAL = re.compile(r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$", re.ASCII)
_TRUTH = {"true": "True", "t": "True", "y": "True", "1": "True", "false": "False", "f": "False", "n": "False", "0": "False"}
_MOST = 2**63 - 1
_MOST_FLOAT = 2.0**62 / 10000  # they are kept in ten-thousandths


def _long_text(value):
    if not isinstance(value, int) and not _WHOLE.match(str(value)):
        raise ValueError
    n = int(value)
    if abs(n) > _MOST:
        raise ValueError
    return str(n)


def _float_text(value):
    text = repr(value) if isinstance(value, float) else str(int(value)) if isinstance(value, int) else str(value).strip()
    if not _DECIMAL.match(text) or abs(float(text)) >= _MOST_FLOAT:
        raise ValueError
    return text


def _size_text(value):
    amount = types.size(value if isinstance(value, (int, types.size)) else str(value))
    if not 0 <= amount._n <= _MOST or amount._bytes() > _MOST * 1024:
        raise ValueError
    return str(amount)


def _time_text(value):
    seconds = types.duration(value if isinstance(value, (int, float)) else str(value))
    if not 0 <= seconds <= _MOST:
        raise ValueError
    return str(seconds)


_TEXT = {"long": _long_text, "float": _float_text, "size": _size_text, "time": _time_text}


def resource_text(name, value):
    """The text of a value that a hook sets, checked by the type of the resource: what the daemons could not read is refused here."""
    kind = schema["resources"].get(name) or type_of(value)
    if isinstance(value, (list, tuple, set, dict, bytes)) or isinstance(value, bool) and kind in _TEXT:
        raise types.BadResourceValueTypeError("%s: %r is no value of a resource of type %s" % (name, value, kind))
    try:
        if kind == "boolean":
            return _TRUTH[str(value).strip().lower()]
        if kind in _TEXT:
            return _TEXT[kind](value)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise types.BadResourceValueError("%s: %r is no value of type %s" % (name, value, kind)) from None
    return repr(value) if isinstance(value, float) else str(value)
