"""The value types of the module pbs: made from the text of a command line, printed back as such."""

import fractions
import math
import re


class EventIncompatibleError(AttributeError):
    """The event does not have the member."""


class UnsetAttributeNameError(AttributeError):
    """The attribute does not exist."""


class BadAttributeValueError(ValueError):
    """The attribute cannot have the value, or cannot be set at this event."""


class BadAttributeValueTypeError(TypeError):
    """The attribute cannot have a value of the type."""


class UnsetResourceNameError(KeyError):
    """The resource does not exist."""


class BadResourceValueError(ValueError):
    """The resource cannot have the value."""


class BadResourceValueTypeError(TypeError):
    """The resource cannot have a value of the type."""


_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"^\s*([0-9]+)\s*([kmgtp]?)([bw]?)\s*$", re.IGNORECASE)
_WORD = 8


class size:
    """An amount of memory or disk. A sum has the smaller unit."""

    __slots__ = ("_n", "_unit", "_word")

    def __init__(self, value=0):
        if isinstance(value, size):
            self._n, self._unit, self._word = value._n, value._unit, value._word
            return
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise BadResourceValueTypeError("size: %r is neither a number nor a text" % (value,))
        if isinstance(value, int):
            self._n, self._unit, self._word = value, 0, False
            return
        found = _SIZE.match(value)
        if not found:
            raise BadResourceValueError("size: %r is no size" % (value,))
        self._n, self._unit = int(found.group(1)), _UNITS[found.group(2).lower()]
        self._word = found.group(3).lower() == "w"

    def _bytes(self):
        return self._n * 1024**self._unit * (_WORD if self._word else 1)

    @classmethod
    def _of(cls, bytes_, unit):
        out = cls(0)
        while unit > 0 and bytes_ % 1024**unit:
            unit -= 1
        out._n, out._unit = bytes_ // 1024**unit, unit
        return out

    def _with(self, other, sign):
        if not isinstance(other, size):
            try:
                other = size(other)
            except (BadResourceValueTypeError, BadResourceValueError):
                return NotImplemented
        return size._of(self._bytes() + sign * other._bytes(), min(self._unit, other._unit))

    def __add__(self, other):
        return self._with(other, 1)

    def __sub__(self, other):
        return self._with(other, -1)

    __radd__ = __add__

    def __rsub__(self, other):
        return size(other) - self

    def _compared(self, other, how):
        if not isinstance(other, size):
            try:
                other = size(other)
            except (BadResourceValueTypeError, BadResourceValueError):
                return NotImplemented
        return how(self._bytes(), other._bytes())

    def __eq__(self, other):
        return self._compared(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._compared(other, lambda a, b: a != b)

    def __lt__(self, other):
        return self._compared(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compared(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compared(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compared(other, lambda a, b: a >= b)

    def __hash__(self):
        return hash(self._bytes())

    def __str__(self):
        unit = [k for k, v in _UNITS.items() if v == self._unit][0]
        return "%d%s%s" % (self._n, unit, "w" if self._word else "b")

    def __repr__(self):
        return str(self)


def size_to_kbytes(value):
    """The kilobytes of a size, rounded up."""
    return -(-size(value)._bytes() // 1024)


class duration(int):
    """Seconds that print as HH:MM:SS."""

    def __new__(cls, value=0):
        if isinstance(value, str):
            value = cls._read(value)
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadResourceValueTypeError("duration: %r is neither a number nor a text" % (value,))
        elif not math.isfinite(value):
            raise BadResourceValueError("duration: %r is no duration" % (value,))
        return super().__new__(cls, value)

    @staticmethod
    def _read(text):
        parts = text.strip().split(":")
        if len(parts) > 4 or not all(re.match(r"^[0-9]+(\.[0-9]*)?$", p) for p in parts):
            raise BadResourceValueError("duration: %r is no duration" % (text,))
        n = 0
        for part in parts[-3:]:
            n = n * 60 + int(float(part))
        if len(parts) == 4:
            n += int(parts[0]) * 86400
        return n

    def __str__(self):
        n = abs(int(self))
        return "%s%02d:%02d:%02d" % ("-" if self < 0 else "", n // 3600, n // 60 % 60, n % 60)

    def __repr__(self):
        return str(self)


class _seconds(duration):
    """A duration that is written in seconds."""

    def __str__(self):
        return str(int(self))

    __repr__ = __str__


_seconds.__name__ = _seconds.__qualname__ = "duration"


def duration_to_secs(value):
    """The seconds of a duration."""
    return int(duration(value))


class _text(str):
    """A type whose text is all there is to it."""

    def __new__(cls, value=""):
        return super().__new__(cls, "" if value is None else str(value))


def _plain(name, doc):
    return type(name, (_text,), {"__doc__": doc, "__module__": "pbs"})


acl = _plain("acl", "A list of who may use something.")
checkpoint = _plain("checkpoint", "When checkpoints are made.")
depend = _plain("depend", "What a job waits for.")
email_list = _plain("email_list", "Who gets mail.")
exec_host = _plain("exec_host", "Where a job runs.")
group_list = _plain("group_list", "Groups of a job.")
job_sort_formula = _plain("job_sort_formula", "How jobs are sorted.")
join_path = _plain("join_path", "Which streams are joined.")
keep_files = _plain("keep_files", "Which files are kept.")
license_count = _plain("license_count", "Licences.")
name = _plain("name", "A name.")
mail_points = _plain("mail_points", "When mail is sent.")
node_group_key = _plain("node_group_key", "A resource that groups vnodes.")
path_list = _plain("path_list", "Paths with hosts.")
place = _plain("place", "How chunks are placed.")
range = _plain("range", "Indices of an array.")  # shadows the builtin in this module only
route_destinations = _plain("route_destinations", "Where jobs go on to.")
software = _plain("software", "Software that a job wants.")
staging_list = _plain("staging_list", "Files to be copied.")
state_count = _plain("state_count", "How many jobs are in which state.")
user_list = _plain("user_list", "Users with hosts.")
version = _plain("version", "A version.")


class args(_text):
    """Arguments of a command."""


class hold_types(_text):
    """Letters of holds; + and - add and take letters away."""

    _order = "uosp"

    def __new__(cls, value="n"):
        text = "n" if value is None else str(value)
        if not text or any(c not in "uospn" for c in text):
            raise BadAttributeValueError("hold_types: %r is not made of the letters u, o, s, p, n" % (text,))
        kept = "".join(c for c in cls._order if c in text)
        return super().__new__(cls, kept or "n")

    def __add__(self, other):
        return hold_types("".join(set(str(self)) | set(str(other))))

    def __sub__(self, other):
        left = set(str(self)) - set(str(other)) - {"n"}
        return hold_types("".join(left) or "n")


def _grown(count, increment):
    if isinstance(increment, bool):
        raise ValueError("bad increment specs")
    if isinstance(increment, int):
        return count + increment
    if isinstance(increment, str):
        text = increment.strip()
        if re.match(r"^[0-9]+$", text):
            return count + int(text)
        if re.match(r"^[0-9]+(\.[0-9]*)?%$", text):
            return math.ceil(count * (1 + fractions.Fraction(text[:-1].rstrip(".")) / 100))
    raise ValueError("bad increment specs")


def _chunks(text):
    out, quote = [""], ""
    for c in text:
        if quote or c in "'\"":
            quote = "" if c == quote else quote or c
        elif c == "+":
            out.append("")
            continue
        out[-1] += c
    return out


class select(_text):
    """A request for chunks."""

    def _items(self):
        for item in _chunks(str(self)):
            head, colon, rest = item.partition(":")
            if re.match(r"^[0-9]+$", head):
                yield int(head), rest
            else:
                yield 1, item

    def increment_chunks(self, increment, first_chunk=False):
        """A select with more chunks, all with their counts."""
        each = increment if isinstance(increment, dict) else {0: increment}
        for index, by in each.items():
            if type(index) is not int or index < 0:
                raise ValueError("bad increment specs")
            _grown(1, by)  # also of an item that is not there or does not grow
        out = []
        for i, (count, rest) in enumerate(self._items()):
            by = increment.get(i, 0) if isinstance(increment, dict) else increment
            if i == 0 and not first_chunk:
                n = 1 if count == 1 else 1 + _grown(count - 1, by)
            else:
                n = _grown(count, by)
            if n < 1:  # a chunk of which there is none is no select
                raise ValueError("bad increment specs")
            out.append("%d:%s" % (n, rest) if rest else str(n))
        return select("+".join(out))


class vchunk:
    """A share of one vnode."""

    def __init__(self, text=""):
        text = text.strip("()")
        self.vnode_name, _, rest = text.partition(":")
        self._text = text
        self.chunk_resources = {}
        for item in filter(None, rest.split(":")):
            name, _, value = item.partition("=")
            self.chunk_resources[name] = _chunk_value(name, value)

    def __str__(self):
        return self._text

    __repr__ = __str__


def _chunk_value(name, value):
    from pbs import _objects

    return _objects.resource_value(name, value)


class exec_vnode(_text):
    """Which vnodes a job has, and what of them."""

    @property
    def chunks(self):
        out = []
        for chunk in re.findall(r"\(([^)]*)\)", str(self)):
            out.extend(vchunk(part) for part in chunk.split("+"))
        return out


class pbs_env(dict):
    """Variables by their names; it prints as NAME=VALUE,..."""

    def __init__(self, value=()):
        if isinstance(value, str):
            value = _variables(value)
        super().__init__(value)

    def __str__(self):
        return ",".join("%s=%s" % (k, _escaped(str(v))) for k, v in self.items())


def _escaped(text):
    return text.replace("\\", "\\\\").replace(",", "\\,")


def _variables(text):
    out, item, i = [], "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            item += text[i + 1]
            i += 2
            continue
        if text[i] == ",":
            out.append(item)
            item = ""
        else:
            item += text[i]
        i += 1
    out.append(item)
    return [tuple(v.split("=", 1)) for v in out if "=" in v]
