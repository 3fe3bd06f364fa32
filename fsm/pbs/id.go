package pbs

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// A JobID is the full identifier of a job, such as "12.srv".
type JobID string

// A HostName names an execution host, and with it the mom that runs there.
type HostName string

// A VnodeName names a vnode, such as "hosta" or "hosta[0]".
type VnodeName string

// A QueueName names a queue.
type QueueName string

// A ReplicaName names a replica, such as "s1".
type ReplicaName string

// A RequestID identifies one request of one asker for ever: a repeat under the
// same id returns the first answer (L8). It is a UUIDv7, so that it carries the
// time at which it was made, followed by ".N" for the N-th operand.
type RequestID string

// Made returns the time that the id (a UUID of version 7) carries, in whole milliseconds.
func (id RequestID) Made() (Time, bool) {
	if len(id) < 36 || id[8] != '-' || id[13] != '-' || id[14] != '7' {
		return 0, false
	}
	ms, err := strconv.ParseUint(string(id[:8]+id[9:13]), 16, 48)
	return Time(ms) * Time(time.Millisecond), err == nil
}

// An OrderID numbers the orders to one mom; it rises per mom (L9).
type OrderID uint64

// A RunCount numbers the runs of a job, from 1; a report of an older run
// changes nothing (L2).
type RunCount uint32

// maxJobSeq is the greatest sequence number that an identifier may carry.
const maxJobSeq = 1<<53 - 1

// NewJobID returns the identifier of the job with the given sequence number.
func NewJobID(seq uint64, server string) JobID {
	return JobID(strconv.FormatUint(seq, 10) + "." + server)
}

// NewArrayID returns the identifier of the job array with the given sequence number.
func NewArrayID(seq uint64, server string) JobID {
	return JobID(strconv.FormatUint(seq, 10) + "[]." + server)
}

// ParseJobID reads an identifier as a user types it, <number>[.<server>][@<server>], with
// "[]" after the number for a job array, "[i]" for a subjob and "[x-y:z]" for several of
// them, and completes it with the default server's name. Server names after @ are aliases
// that the caller has to check; they are dropped. A text of another form is refused
// with BadJobID.
func ParseJobID(text, defaultServer string) (JobID, error) {
	bare, _, _ := strings.Cut(text, "@")
	number, server, dotted := strings.Cut(bare, ".")
	if !dotted {
		server = defaultServer
	}
	number, brackets, array := strings.Cut(number, "[")
	seq, ok := parseSeq(number)
	if array && ok {
		brackets, ok = parseBrackets(brackets)
	}
	if !ok || (dotted && !validServer(server)) {
		return "", Errorf(BadJobID, "illegally formed job identifier: %s", text)
	}
	return JobID(strconv.FormatUint(seq, 10) + brackets + "." + server), nil
}

// NamesReservation reports whether the text has the form of a reservation's identifier:
// R, S or M and a number, where a job's has the number alone.
func NamesReservation(text string) bool {
	rest := strings.TrimLeft(text, "RSM")
	if len(text)-len(rest) != 1 || strings.Contains(rest, "[") {
		return false
	}
	_, err := ParseJobID(rest, "server")
	return err == nil
}

// parseBrackets reads what follows the bracket of an array, and returns it with brackets.
func parseBrackets(text string) (string, bool) {
	inner, closed := strings.CutSuffix(text, "]")
	if inner == "" || !closed {
		return "[]", closed
	}
	set, err := ParseIndices(inner)
	return "[" + set.String() + "]", err == nil
}

func parseSeq(s string) (uint64, bool) {
	if s == "" || s[0] == '+' {
		return 0, false
	}
	seq, err := strconv.ParseUint(s, 10, 64)
	return seq, err == nil && seq <= maxJobSeq
}

func validServer(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if !isNameRune(r) {
			return false
		}
	}
	return true
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		r == '-' || r == '.' || r == '_' || r == ':'
}

// MaxSchedName is how many characters a scheduler's name may have: PBS_MAXSCHEDNAME.
const MaxSchedName = 15

// MaxQueueName is how many characters a queue's name may have: PBS_MAXQUEUENAME.
const MaxQueueName = 15

// Valid reports whether a queue may have the name: a letter or digit, then letters,
// digits, "-", "_" and ".".
func (n QueueName) Valid() bool {
	for i, r := range string(n) {
		if !isNameRune(r) || r == ':' || i == 0 && (r == '-' || r == '.' || r == '_') {
			return false
		}
	}
	return n != ""
}

// Valid reports whether a vnode may have the name: as a queue's, and "[" and "]" for the
// parts of a host. Anything else would be lost in an exec_vnode or in a list of names.
func (n VnodeName) Valid() bool {
	return QueueName(strings.NewReplacer("[", "", "]", "").Replace(string(n))).Valid() && n[0] != '['
}

// Seq returns the sequence number of the job, 0 for a malformed identifier.
func (id JobID) Seq() uint64 {
	seq, _ := parseSeq(id.Number())
	return seq
}

// Number returns the digits in front, as in default file names: "12".
func (id JobID) Number() string {
	if i := strings.IndexAny(string(id), "[."); i >= 0 {
		return string(id[:i])
	}
	return string(id)
}

// brackets returns what stands between the brackets of an array's identifier.
func (id JobID) brackets() (inner string, array bool) {
	number, _, _ := strings.Cut(string(id), ".")
	_, rest, array := strings.Cut(number, "[")
	return strings.TrimSuffix(rest, "]"), array
}

// IsArray reports whether the identifier is that of a whole array.
func (id JobID) IsArray() bool {
	inner, array := id.brackets()
	return array && inner == ""
}

// Indices returns the subjobs that the identifier names; false for a job and for a whole
// array.
func (id JobID) Indices() (Indices, bool) {
	inner, _ := id.brackets()
	if inner == "" {
		return nil, false
	}
	set, err := ParseIndices(inner)
	return set, err == nil
}

// Sub returns one more than the index of a subjob, 0 for what is not one.
func (id JobID) Sub() uint32 {
	inner, array := id.brackets()
	if i, ok := parseIndex(inner); ok && array {
		return i + 1
	}
	return 0
}

// Parent returns the identifier of the array that a subjob, or a range, belongs to.
func (id JobID) Parent() JobID {
	number, server, _ := strings.Cut(string(id), ".")
	bare, _, array := strings.Cut(number, "[")
	if !array {
		return id
	}
	return JobID(bare + "[]." + server)
}

// Subjob returns the identifier of a subjob of the array.
func (id JobID) Subjob(index uint32) JobID {
	return id.withBrackets(strconv.FormatUint(uint64(index), 10))
}

// Subjobs returns the identifier that names several subjobs of the array.
func (id JobID) Subjobs(set Indices) JobID { return id.withBrackets(set.String()) }

func (id JobID) withBrackets(inner string) JobID {
	_, server, _ := strings.Cut(string(id), ".")
	return JobID(id.Number() + "[" + inner + "]." + server)
}

// A User is a person as one host's daemon knows him.
type User struct {
	Name string   `cbor:"1,keyasint,omitempty"`
	Host HostName `cbor:"2,keyasint,omitempty"`
}

// String returns "name@host".
func (u User) String() string { return u.Name + "@" + string(u.Host) }

// ParseUser reads "name@host"; the host may be missing.
func ParseUser(s string) User {
	name, host, _ := strings.Cut(s, "@")
	return User{Name: name, Host: HostName(host)}
}

// Time is a moment of the replicated clock in nanoseconds since the epoch;
// 0 means "not yet".
type Time int64

// After returns the time that is so much later; false: it is later than any that can be told.
func (t Time) After(long Time) (later Time, ok bool) {
	if long > 0 && t > math.MaxInt64-long {
		return 0, false
	}
	return t + long, true
}

// Unix returns the whole seconds since the epoch, 0 for "not yet".
func (t Time) Unix() int64 { return int64(t) / 1e9 }
