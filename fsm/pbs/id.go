package pbs

import (
	"strconv"
	"strings"
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

// ParseJobID reads an identifier as a user types it, <number>[.<server>][@<server>],
// and completes it with the default server's name. Server names after @ are aliases
// that the caller has to check; they are dropped. A text of another form is refused
// with BadJobID.
func ParseJobID(text, defaultServer string) (JobID, error) {
	bare, _, _ := strings.Cut(text, "@")
	number, server, dotted := strings.Cut(bare, ".")
	seq, ok := parseSeq(number)
	if !ok || (dotted && !validServer(server)) {
		return "", Errorf(BadJobID, "illegally formed job identifier: %s", text)
	}
	if !dotted {
		server = defaultServer
	}
	return NewJobID(seq, server), nil
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

// Valid tells whether a queue may have the name: a letter or digit, then letters,
// digits, "-", "_" and ".".
func (n QueueName) Valid() bool {
	for i, r := range string(n) {
		if !isNameRune(r) || r == ':' || i == 0 && (r == '-' || r == '.' || r == '_') {
			return false
		}
	}
	return n != ""
}

// Valid tells whether a vnode may have the name: as a queue's, and "[" and "]" for the
// parts of a host. Anything else would be lost in an exec_vnode or in a list of names.
func (n VnodeName) Valid() bool {
	return QueueName(strings.NewReplacer("[", "", "]", "").Replace(string(n))).Valid() && n[0] != '['
}

// Seq returns the sequence number of the job, 0 for a malformed identifier.
func (id JobID) Seq() uint64 {
	number, _, _ := strings.Cut(string(id), ".")
	seq, _ := parseSeq(number)
	return seq
}

// Number returns the part before the server's name, as in default file names: "12".
func (id JobID) Number() string {
	number, _, _ := strings.Cut(string(id), ".")
	return number
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

// Unix returns the whole seconds since the epoch, 0 for "not yet".
func (t Time) Unix() int64 { return int64(t) / 1e9 }
