package service

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// Managers read the records of every job, an owner those of his own while it is known; a job
// that is not is looked for as far back as was said, and one that never was nowhere.
func TestJobRecords(t *testing.T) {
	b := newBench(t)
	id := b.mustSubmit("ann@h")
	gone := b.mustSubmit("ann@h")
	if _, err := b.Batch.Delete(b.as("ann@h"), request(&api.DeleteRequest{Job: gone, History: true}, "")); err != nil {
		t.Fatal(err)
	}
	today := b.store.View().Now().Unix()
	for _, c := range []struct {
		who, job string
		days     uint32
		want     string // id, days and whether the newest is first, or the code
		refused  pbs.Code
	}{
		{"root@replica:s1", id, 0, id + " -1 +1 false", 0},
		{"ann@h", "0", 0, id + " -1 +1 false", 0},
		{"bob@h", id, 0, "", pbs.Unauthorized},
		{"root@replica:s1", "7777", 0, "", pbs.UnknownJob},
		{"root@replica:s1", "x", 0, "", pbs.BadJobID},
		{"root@replica:s1", gone, 0, gone + " -6 +1 true", 0},
		{"root@replica:s1", gone, 30, gone + " -29 +1 true", 0},
		{"ann@h", gone, 0, "", pbs.UnknownJob},
	} {
		var words []string
		err := b.Cluster.jobRecords(b.as(c.who), &api.JobRecordsRequest{Job: c.job, Days: c.days}, func(m *api.JobRecordsReply) error {
			for _, l := range m.GetLines() {
				words = append(words, dayFrom(today, string(l)))
			}
			return nil
		})
		if got := strings.Join(words, " "); got != c.want || pbs.CodeOf(err) != c.refused {
			t.Errorf("%s asks for %s: %q, %v, want %q, %v", c.who, c.job, got, err, c.want, c.refused)
		}
	}
}

// Of a job that ended days ago, only the days of its life are read.
func TestJobRecords_OfAJobThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		id := b.mustSubmit("ann@h")
		if _, err := b.Batch.Delete(b.as("ann@h"), request(&api.DeleteRequest{Job: id}, "")); err != nil {
			t.Fatal(err)
		}
		for range 5 * 24 { // the state's time is that of its last entry
			time.Sleep(time.Hour)
			b.mustSubmit("ann@h")
		}
		var got string
		if err := b.Cluster.jobRecords(b.as("ann@h"), &api.JobRecordsRequest{Job: id}, func(m *api.JobRecordsReply) error {
			if l := m.GetLines(); len(l) > 0 {
				got = dayFrom(time.Now().Unix(), string(l[1])) + " " + dayFrom(time.Now().Unix(), string(l[2]))
			}
			return nil
		}); err != nil || got != "-6 -4" {
			t.Errorf("%s, %v", got, err)
		}
	})
}

// A line is in one message whole, and no message is much longer than one may be.
func TestInMessages(t *testing.T) {
	long := bytes.Repeat([]byte("x"), bytesPerMessage)
	var sizes []int
	if err := inMessages([][]byte{long, []byte("a"), []byte("b"), long}, func(some [][]byte) error {
		sizes = append(sizes, len(some))
		return nil
	}); err != nil || len(sizes) != 3 || sizes[1] != 2 {
		t.Errorf("%v, %v", sizes, err)
	}
}

// dayFrom writes a day as its distance from that of a moment, and leaves other words alone.
func dayFrom(now int64, word string) string {
	t, err := time.Parse("20060102", word)
	if err != nil {
		return word
	}
	return fmt.Sprintf("%+d", t.Unix()/86400-now/86400)
}
