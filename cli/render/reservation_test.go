package render

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"rampart/transport/api"
)

// booked reads what pbs_rstat -F printed.
func booked(t *testing.T, text string) []*api.Object {
	t.Helper()
	var all []*api.Object
	for line := range strings.SplitSeq(text, "\n") {
		if id, ok := strings.CutPrefix(line, "Resv ID: "); ok {
			all = append(all, &api.Object{Name: id})
			continue
		}
		name, value, ok := strings.Cut(line, " = ")
		if !ok {
			continue
		}
		name, resource, _ := strings.Cut(name, ".")
		if isMoment(name) {
			at, err := time.Parse(ctime, value)
			if err != nil {
				t.Fatal(err)
			}
			value = strconv.FormatInt(at.Unix(), 10)
		}
		o := all[len(all)-1]
		o.Attributes = append(o.Attributes, &api.Attribute{Name: name, Resource: resource, Value: value})
	}
	return all
}

func TestReservation_AsRecorded(t *testing.T) {
	want := recorded(t, "pbs_rstat-F.txt")
	var got bytes.Buffer
	for _, o := range booked(t, want) {
		Reservation(&got, o, time.UTC)
	}
	same(t, got.String(), want)
}

// A row is told by its cells, in the order of the table.
type resvCells struct{ id, queue, users, state, start, duration, end string }

func (c resvCells) object(t *testing.T) *api.Object {
	t.Helper()
	o := &api.Object{Name: c.id}
	for _, a := range [][2]string{
		{"queue", c.queue},
		{"Authorized_Users", c.users},
		{"reserve_state", c.state},
		{"reserve_duration", c.duration},
		{"reserve_start", epoch(t, c.start)},
		{"reserve_end", epoch(t, c.end)},
	} {
		if a[1] != "" {
			o.Attributes = append(o.Attributes, &api.Attribute{Name: a[0], Value: a[1]})
		}
	}
	return o
}

func epoch(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatInt(at.Unix(), 10)
}

// The lines are those of a PBS.
func TestReservationTable_AsRecorded(t *testing.T) {
	now := time.Date(2026, 11, 23, 11, 34, 0, 0, time.UTC)
	for _, c := range []struct {
		wide  bool
		cells resvCells
		want  string
	}{
		{
			false,
			resvCells{"R3.hosta", "R3", "pbsuser@hosta", "RESV_CONFIRMED", "2026-11-23 11:44:41", "60", "2026-11-23 11:45:41"},
			"R3.hosta   R3       pbsuser@ CO          Today 11:44 / 60 / Today 11:45      ",
		},
		{
			false,
			resvCells{"R46.hosta", "R46", "pbsuser@hosta", "RESV_CONFIRMED", "2026-11-24 09:00:00", "82800", "2026-11-25 08:00:00"},
			"R46.hosta  R46      pbsuser@ CO            Tue 09:00 / 82800 / Wed 08:00        ",
		},
		{
			false,
			resvCells{"R47.hosta", "R47", "pbsuser@hosta", "RESV_CONFIRMED", "2026-11-23 23:59:00", "3600", "2026-11-24 00:59:00"},
			"R47.hosta  R47      pbsuser@ CO          Today 23:59 / 3600 / Tue 00:59        ",
		},
		{
			false,
			resvCells{"R60.hosta", "R60", "pbsuser@hosta", "RESV_CONFIRMED", "2099-12-31 23:59:00", "15", "2099-12-31 23:59:15"},
			"R60.hosta  R60      pbsuser@ CO    Thu Dec 31 2099 2 / 15 / Thu Dec 31 2099 2",
		},
		{
			false,
			resvCells{"R0.hosta", "R0", "+pbsuser1", "RESV_RUNNING", "2026-11-23 11:34:13", "55", "2026-11-23 11:35:08"},
			"R0.hosta   R0       +pbsuser RN          Today 11:34 / 55 / Today 11:35      ",
		},
		{
			true,
			resvCells{"R48.hosta", "R48", "pbsuser@hosta", "RESV_RUNNING", "2026-11-23 11:44:41", "16", "2026-11-23 11:45:01"},
			"R48.hosta       R48           pbsuser@ RN          Today 11:44 / 16 / Today 11:45      ",
		},
		{
			true,
			resvCells{"R53.hosta", "R53", "pbsuser,pbsuser1", "RESV_CONFIRMED", "2026-11-23 11:54:41", "30", "2026-11-23 11:55:01"},
			"R53.hosta       R53           pbsuser, CO          Today 11:54 / 30 / Today 11:55      ",
		},
		// As soon as a job fits: the start is not known yet.
		{
			false,
			resvCells{id: "R123456.server", queue: "R123456", users: "ann@hosta", state: "RESV_UNCONFIRMED", duration: "30"},
			"R123456.se R123456  ann@host UN                      / 30 /                  ",
		},
	} {
		var got bytes.Buffer
		table := &ReservationTable{Wide: c.wide, Now: now}
		table.Row(&got, c.cells.object(t))
		if got.String() != c.want+"\n" {
			t.Errorf("\n got %q\nwant %q", got.String(), c.want+"\n")
		}
	}
}

func TestReservationTable_Head(t *testing.T) {
	for wide, want := range map[bool]string{
		false: "Resv ID    Queue    User     State             Start / Duration / End              \n" + strings.Repeat("-", 69) + "\n",
		true:  "Resv ID         Queue         User     State             Start / Duration / End              \n" + strings.Repeat("-", 79) + "\n",
	} {
		var got bytes.Buffer
		(&ReservationTable{Wide: wide}).Head(&got)
		if got.String() != want {
			t.Errorf("wide %v:\n got %q\nwant %q", wide, got.String(), want)
		}
	}
}

func TestReservationTable_Moments(t *testing.T) {
	zone := time.FixedZone("", -5*3600)
	table := &ReservationTable{Now: time.Date(2026, 11, 23, 22, 30, 0, 0, zone)}
	for text, want := range map[string]string{
		"2026-11-23 05:00:00": "Today 00:00",
		"2026-11-24 04:59:59": "Today 23:59",
		"2026-11-24 05:00:00": "Tue 00:00",
		"2026-11-23 04:59:00": "Sun 23:59",
		"2026-12-01 03:29:59": "Mon 22:29",
		"2026-12-01 03:30:00": "Mon Nov 30 2026 22:30",
		"2026-11-17 03:30:01": "Mon 22:30",
		"2026-11-17 03:30:00": "Mon Nov 16 2026 22:30",
		"2027-11-23 05:00:00": "Tue Nov 23 2027 00:00",
		"2026-12-03 12:00:00": "Thu Dec 03 2026 07:00",
	} {
		if got := table.near(epoch(t, text)); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
