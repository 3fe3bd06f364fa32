package conformance

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// reserveAhead makes a reservation of root's that begins and ends so many seconds ahead, and returns its id and its queue.
func reserveAhead(t *testing.T, c *devrun.Cluster, from, until int, sel string) (id, queue string) {
	t.Helper()
	now := time.Now()
	at := func(n int) string {
		return now.Add(time.Duration(n) * time.Second).Format("200601021504.05")
	}
	out, err := c.Output(t.Context(), "pbs_rsub", "-I", "10", "-R", at(from), "-E", at(until), "-l", "select="+sel)
	id, answer, _ := strings.Cut(strings.TrimSpace(out), " ")
	if err != nil || answer != "CONFIRMED" {
		t.Fatalf("pbs_rsub: %q, %v", out, err)
	}
	queue, _, _ = strings.Cut(id, ".")
	return id, queue
}

func submitTo(t *testing.T, c *devrun.Cluster, queue, sel, seconds string) string {
	t.Helper()
	id, err := c.Output(t.Context(), "qsub", "-q", queue, "-o", "/dev/null", "-j", "oe", "-l", "select="+sel, "--", "/bin/sleep", seconds)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// awaitShown waits until a command that is asked of a replica, or of any, shows a text.
func awaitShown(t *testing.T, c *devrun.Cluster, want, name string, args ...string) {
	t.Helper()
	waitFor(t, patience, want, func() error {
		out, err := c.Output(t.Context(), name, args...)
		if err == nil && !strings.Contains(out, want) {
			err = fmt.Errorf("%s", out)
		}
		return err
	})
}

// awaitTypes waits until all replicas have records of these types, and no others.
func awaitTypes(t *testing.T, c *devrun.Cluster, id, want string) []string {
	t.Helper()
	var first []string
	waitFor(t, patience, "records "+want+" of "+id, func() error {
		for _, replica := range replicas {
			lines, err := recordsOf(c, replica, id)
			if err != nil || types(lines) != want {
				return fmt.Errorf("%s: %w: %s", replica, err, strings.Join(lines, "\n"))
			}
			if first != nil && strings.Join(lines, "\n") != strings.Join(first, "\n") {
				return fmt.Errorf("%s has others: %s", replica, strings.Join(lines, "\n"))
			}
			first = lines
		}
		return nil
	})
	return first
}

// TestReservations_LeaderKilled plays RV-74 and RV-76: the leader dies before one begins, and another ends.
func TestReservations_LeaderKilled(t *testing.T) {
	t.Parallel()
	c := reservationCluster(t)
	later, _ := reserveAhead(t, c, 40, 120, "1:ncpus=2")
	runs, queue := reserveAhead(t, c, 6, 25, "1:ncpus=2")
	job := submitTo(t, c, queue, "1:ncpus=2", "1000")
	awaitShown(t, c, "job_state = R", "qstat", "-f", job)
	before, err := c.Output(t.Context(), "pbs_rstat", "-F", later)
	if err != nil {
		t.Fatal(err)
	}
	leader := killLeader(t, c)
	for _, name := range followers(leader) {
		waitFor(t, patience, "the reservation at "+name, func() error {
			out, err := at(t, c, name, "pbs_rstat", "-F", later)
			if err == nil && strings.TrimSpace(out) != strings.TrimSpace(before) {
				err = fmt.Errorf("%s\nwant\n%s", out, before)
			}
			return err
		})
	}
	awaitShown(t, c, "RESV_RUNNING", "pbs_rstat", "-F", later)
	restart(t, c, leader)
	for id, want := range map[string]string{later: "UYB", runs: "UYBK", job: "QSE"} {
		awaitTypes(t, c, id, want)
	}
}

// TestReservations_AllDown plays RV-78 and RV-79: no replica is up when one begins and another ends. That the first one ends as planned is
// shown where two minutes take no time, by testdata/sim/reservations-outages.txtar.
func TestReservations_AllDown(t *testing.T) {
	t.Parallel()
	c := reservationCluster(t)
	began := time.Now()
	begins, queue := reserveAhead(t, c, 20, 120, "1:ncpus=2")
	inside := submitTo(t, c, queue, "1:ncpus=1", "1000")
	ends, queue := reserveAhead(t, c, 6, 16, "1:ncpus=2")
	runs := submitTo(t, c, queue, "1:ncpus=2", "1000")
	waits := submitTo(t, c, queue, "1:ncpus=1", "1000")
	awaitShown(t, c, "substate = 42", "qstat", "-f", runs)
	planned, err := c.Output(t.Context(), "pbs_rstat", "-F", begins)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range replicas {
		kill(t, c, name)
	}
	up := began.Add(23 * time.Second)
	waitFor(t, patience, "both times to be over", func() error {
		if time.Now().Before(up) {
			return os.ErrDeadlineExceeded
		}
		return nil
	})
	if err := c.Restart(t.Context(), replicas...); err != nil {
		t.Fatal(err)
	}
	awaitShown(t, c, "RESV_RUNNING", "pbs_rstat", "-F", begins)
	for _, name := range replicas {
		awaitShown(t, c, ";0086;Server@"+name+";Svr;Server@"+name+";Recovered reservation "+begins+"\n", "sh", "-c", "cat "+c.Dir+"/homes/"+name+"/server_logs/2*")
	}
	awaitShown(t, c, "job_state = R", "qstat", "-f", inside)
	lines := awaitTypes(t, c, begins, "UYB")
	_, rest, _ := strings.Cut(planned, "reserve_start = ")
	text, _, _ := strings.Cut(rest, "\n")
	start, err := time.ParseInLocation(time.ANSIC, text, time.Local)
	if want := fmt.Sprintf(" start=%d ", start.Unix()); err != nil || !strings.Contains(lines[2], want) {
		t.Errorf("it begins with %s, want%s(%v)", lines[2], want, err)
	}
	awaitTypes(t, c, ends, "UYBK")
	awaitTypes(t, c, runs, "QSE")
	awaitTypes(t, c, waits, "QD")
	awaitShown(t, c, "Exit_status = 271", "qstat", "-xf", runs)
	awaitShown(t, c, "job_state = F", "qstat", "-xf", waits)
}

// TestReservations_DeletedTwice plays RV-77: of two who delete one at once, through two replicas, one does.
func TestReservations_DeletedTwice(t *testing.T) {
	t.Parallel()
	c := reservationCluster(t)
	id, _ := reserveAhead(t, c, 600, 660, "1:ncpus=8:host=hosta")
	outs, errs := make([]string, 2), make([]error, 2)
	var wg sync.WaitGroup
	for i, name := range replicas[:2] {
		wg.Go(func() { outs[i], errs[i] = at(t, c, name, "pbs_rdel", id) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !strings.Contains(strings.Join(outs, ""), "pbs_rdel: Unknown Reservation Id "+id) {
		t.Errorf("they read %q, %v", outs, errs)
	}
	if errs[0] == nil { // who asked for it did so at that host
		awaitTypes(t, c, id, "UYk")
	} else {
		awaitTypes(t, c, id, "UYK")
	}
}
