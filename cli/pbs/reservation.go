package pbs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rampart/cli"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// reservations are PBS's commands for reservations (specification: advance-reservations sections 3 to 6).
func reservations() []*cli.Command { return []*cli.Command{rsub(), rdel(), ralter(), rstat()} }

// A booking collects what the options of pbs_rsub and pbs_ralter say. Of an alteration an empty value unsets.
type booking struct {
	request
	wait int64 // of -I
	long bool  // the name is longer than any may be
}

// bookingOption is an option that sets one attribute of a reservation.
type bookingOption struct{ letter, attribute string }

var bookingOptions = [...]bookingOption{
	{"m", "Mail_Points"},
	{"M", "Mail_Users"},
	{"N", "Reserve_Name"},
	{"u", "User_List"},
	{"g", "group_list"},
	{"U", "Authorized_Users"},
	{"G", "Authorized_Groups"},
	{"H", "Authorized_Hosts"},
}

// bad notes that the value of an option is none.
func (b *booking) bad(letter, kind string) {
	b.faults = append(b.faults, "illegal -"+letter+kind+" value")
}

// common takes over the options that both commands have.
func (b *booking) common(opts *cli.Options) {
	b.times(opts)
	if opts.Has("I") {
		n, err := strconv.ParseInt(opts.Last("I"), 10, 32)
		if err != nil || b.qalter && n <= 0 {
			b.bad("I", " time")
		}
		b.wait = n
		b.set("interactive", "", strconv.FormatInt(n, 10))
	}
	for _, o := range bookingOptions {
		if opts.Has(o.letter) {
			b.named(o, opts.Last(o.letter))
		}
	}
}

// named reads an option that sets one attribute. An alteration takes the list of groups away by an empty one.
func (b *booking) named(o bookingOption, v string) {
	def, _ := attr.Lookup(attr.Reservation, o.attribute)
	if b.qalter && o.letter == "G" && v == "" {
		b.set(o.attribute, "", "")
		return
	}
	if b.long = b.long || o.letter == "N" && len(v) > attr.MaxReserveName; b.long {
		v = strings.ToValidUTF8(v[:min(len(v), attr.MaxReserveName)], "")
	}
	value, ok := parse(def, v)
	if !ok || value == "" || !utf8.ValidString(v) || o.letter == "M" && !isMailing(v) {
		b.bad(o.letter, "")
		return
	}
	b.set(o.attribute, "", value)
}

// times reads -R and -E. Where -R names no day an end before it is that of the next day.
func (b *booking) times(opts *cli.Options) {
	start, starts := b.time(opts, "R")
	end, ends := b.time(opts, "E")
	clock, _, _ := strings.Cut(opts.Last("R"), ".")
	if starts && ends && end < start && len(clock) == len("hhmm") {
		end = time.Unix(end, 0).In(b.env.Zone).AddDate(0, 0, 1).Unix()
	}
	if starts {
		b.set("reserve_start", "", strconv.FormatInt(start, 10))
	}
	if ends {
		b.set("reserve_end", "", strconv.FormatInt(end, 10))
	}
}

func (b *booking) time(opts *cli.Options, letter string) (seconds int64, given bool) {
	if !opts.Has(letter) {
		return 0, false
	}
	seconds, ok := moment(b.env, opts.Last(letter))
	if !ok || seconds < 0 {
		b.bad(letter, " time")
	}
	return seconds, ok
}

// amounts reads -l. What a value must be is for the server to judge.
func (b *booking) amounts(v string) bool {
	for _, item := range splitList(v) {
		name, value, _ := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		if !isWord(name) || !utf8.ValidString(value) {
			return false
		}
		b.set("Resource_List", name, unquote(strings.TrimSpace(value)))
	}
	return true
}

// timed reports whether a start or an end was given.
func timed(opts *cli.Options) bool { return opts.Has("R") || opts.Has("E") }

// plainly says something without the name of the command in front, and returns the exit status of wrong usage.
func (b *booking) plainly(c *cli.Command, text string) error {
	fmt.Fprintln(b.env.Stderr, text)
	return cli.Status(c.UsageStatus)
}

// tooLong refuses a name that no reservation can have.
func (b *booking) tooLong(c *cli.Command) error {
	if b.long {
		return b.plainly(c, c.Name+": Reservation name is too long ")
	}
	return nil
}

// unreachable tells of a server that does not answer in the words that PBS has for it in commands of reservations, and
// returns other errors as they are.
func unreachable(env *cli.Env, c *cli.Command, server string, err error) error {
	var down *cli.Unreachable
	if !errors.As(cli.Located(server, err), &down) {
		return err
	}
	cause, code := "Connection refused", pbs.SystemError
	if errors.Is(down, pbs.Refuse(pbs.NoServer)) {
		cause, code = "Unknown Host.", pbs.UnknownHost
	}
	name := ""
	if c.Name == "pbs_rsub" { // pbs_rstat does not say which
		name = " " + down.Server
	}
	fmt.Fprintf(env.Stderr, "%s\n%s: cannot connect to server%s (errno=%d)\n", cause, c.Name, name, code)
	return cli.Status(code.ExitStatus())
}

// reservationOf checks an identifier, makes its server the one that is asked, and returns it without what stands behind "@".
func (s *session) reservationOf(id string) (bare string, err error) {
	if !pbs.NamesReservation(id) {
		return "", pbs.Errorf(pbs.BadJobID, "illegally formed reservation identifier: %s", id)
	}
	return s.meanOf(id)
}

// at completes an identifier with the server that an option names.
func at(id, server string) string {
	if server == "" || strings.Contains(id, "@") {
		return id
	}
	return id + "@" + server
}
