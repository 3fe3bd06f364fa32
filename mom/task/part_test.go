package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// parters are sisters that note what they are told of releases.
type parters struct {
	*neighbours
	mu   sync.Mutex
	told []string
	away map[pbs.HostName]bool
}

func (p *parters) hear(to Host, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away[to.Name] || p.away[pbs.HostName(fmt.Sprintf("%s %s", to.Name, text))] {
		return errors.New("nobody answers")
	}
	p.told = append(p.told, fmt.Sprintf("%s %s", to.Name, text))
	return nil
}

func (p *parters) Leave(_ context.Context, to Host, _ spool.TaskKey, reported bool) (Share, bool, error) {
	if reported {
		return Share{Peak: Peak{CPU: time.Hour, RSS: 4096}}, true, p.hear(to, "may go")
	}
	return Share{Peak: Peak{CPU: time.Hour, RSS: 2048}}, false, p.hear(to, "leaves")
}

func (p *parters) Update(_ context.Context, to Host, t Task) error {
	return p.hear(to, fmt.Sprintf("has %s by order %d", t.Assigned().Get("exec_host"), t.Assignment.Number))
}

func (p *parters) set(host pbs.HostName, away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away[host] = away
}

// words returns what was heard since it was asked last, sorted.
func (p *parters) words() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := slices.Sorted(slices.Values(p.told))
	p.told = nil
	return said
}

// parting runs f beside a runner of three hosts, whose program runs.
func parting(t *testing.T, f func(t *testing.T, r *Runner, p *parters, again func() *Runner)) {
	synctest.Test(t, func(t *testing.T) {
		p := &parters{neighbours: &neighbours{heard: map[pbs.HostName][]string{}, away: map[pbs.HostName]bool{}}, away: map[pbs.HostName]bool{}}
		s, _, _ := stageSite(t)
		s.Peers = p
		ctx, cancel := context.WithCancel(t.Context())
		run := func(task Task, first Event) *Runner {
			r := NewRunner(s, task)
			go r.Run(ctx, first)
			return r
		}
		r := run(in(Running, assigned), Announced{})
		f(t, r, p, func() *Runner {
			cancel()
			<-r.Done()
			ctx, cancel = context.WithCancel(t.Context())
			records, err := s.Spool.Tasks()
			if err != nil || len(records) != 1 {
				t.Fatal(records, err)
			}
			old, err := Load(s, records[0])
			if err != nil {
				t.Fatal(err)
			}
			r = run(old.Task(), SistersTold{}) // what a resumed task does, without looking for its program
			return r
		})
		cancel()
		<-r.Done()
	})
}

func heard(t *testing.T, p *parters, want ...string) {
	t.Helper()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	if got := p.words(); !slices.Equal(got, want) {
		t.Errorf("sisters heard %q, want %q", got, want)
	}
}

func order(t *testing.T, r *Runner, ev Event) {
	t.Helper()
	if err := r.Tell(t.Context(), ev); err != nil {
		t.Error(err)
	}
}

// Sisters hear of what is done, not of what may be withdrawn; the node file follows at once.
func TestRunner_TellsOfReleases(t *testing.T) {
	parting(t, func(t *testing.T, r *Runner, p *parters, _ func() *Runner) {
		nodes := func(want string) {
			t.Helper()
			if text, err := os.ReadFile(r.site.Spool.NodeFile(testKey.Job)); err != nil || string(text) != want {
				t.Errorf("node file %q, %v; want %q", text, err, want)
			}
		}
		order(t, r, without(1, AssignAsked, "hosta", "hostc"))
		nodes("hosta\nhostc\n")
		heard(t, p)
		order(t, r, without(2, AssignWithdrawn, "hosta", "hostb", "hostc"))
		nodes("hosta\nhostb\nhostc\n")
		heard(t, p)
		order(t, r, without(1, AssignAsked, "hosta", "hostc")) // it was late
		nodes("hosta\nhostb\nhostc\n")
		order(t, r, without(3, AssignAsked, "hosta", "hostc"))
		order(t, r, without(4, AssignDone, "hosta", "hostc"))
		heard(t, p, "hostb leaves", "hostb may go", "hostc has hosta/0+hostc/0 by order 4")
		if got := r.Task(); got.Assignment.open() || !slices.Equal(got.Assignment.In(MemberLeft), []pbs.HostName{"hostb"}) {
			t.Errorf("the sisters are %v", got.Assignment.Members)
		}
		order(t, r, without(4, AssignDone, "hosta", "hostc")) // a repeat
		heard(t, p)
	})
}

// A sister that does not answer is told when it is back, after a restart of this mom, too; others
// do not wait for it, and what may be withdrawn is not told meanwhile.
func TestRunner_TellsWhoWasAway(t *testing.T) {
	parting(t, func(t *testing.T, r *Runner, p *parters, again func() *Runner) {
		p.set("hostb", true)
		p.set("hostc", true)
		order(t, r, without(1, AssignAsked, "hosta", "hostc"))
		order(t, r, without(2, AssignDone, "hosta", "hostc"))
		time.Sleep(time.Hour)
		r = again()
		order(t, r, without(3, AssignAsked, "hosta"))
		p.set("hostc", false)
		time.Sleep(time.Minute)
		heard(t, p)
		order(t, r, without(4, AssignWithdrawn, "hosta", "hostc"))
		time.Sleep(partAgain)
		heard(t, p, "hostc has hosta/0+hostc/0 by order 4")
		p.set("hostb", false)
		time.Sleep(partAgain)
		heard(t, p, "hostb leaves", "hostb may go")
		time.Sleep(time.Hour)
		heard(t, p)
	})
}

// What a sister has used is saved, and told in the log once, before it goes on; the next mom does not
// ask for it again.
func TestRunner_SavesWhatLeaversHaveUsed(t *testing.T) {
	parting(t, func(t *testing.T, r *Runner, p *parters, again func() *Runner) {
		p.set("hostb may go", true)
		order(t, r, without(1, AssignAsked, "hosta", "hostc"))
		order(t, r, without(2, AssignDone, "hosta", "hostc"))
		heard(t, p, "hostb leaves", "hostc has hosta/0+hostc/0 by order 2")
		r = again()
		p.set("hostb may go", false)
		time.Sleep(partAgain)
		heard(t, p, "hostb may go")
		if got := r.Task(); got.Assignment.open() || got.Shares["hostb"].RSS != 4096 {
			t.Errorf("the sisters are %v, used %v", got.Assignment.Members, got.Shares)
		}
	})
}

// Two releases that overlap.
func TestRunner_TellsOfOverlappingReleases(t *testing.T) {
	parting(t, func(t *testing.T, r *Runner, p *parters, again func() *Runner) {
		p.set("hostb", true)
		p.set("hostc", true)
		order(t, r, without(1, AssignAsked, "hosta", "hostc"))
		order(t, r, without(2, AssignDone, "hosta", "hostc"))
		order(t, r, without(3, AssignAsked, "hosta"))
		order(t, r, without(4, AssignDone, "hosta"))
		r = again()
		p.set("hostc", false)
		time.Sleep(partAgain)
		heard(t, p, "hostc leaves", "hostc may go")
		p.set("hostb", false)
		time.Sleep(partAgain)
		heard(t, p, "hostb leaves", "hostb may go")
		if got := r.Task(); got.Assignment.open() || len(got.Assignment.In(MemberLeft)) != 2 || got.Reckoning().total().CPU != 2*time.Hour {
			t.Errorf("the sisters are %v, used %v", got.Assignment.Members, got.Reckoning().total())
		}
	})
}

// An assignment that cannot be read, or a disk that is full, changes nothing.
func TestRunner_RefusesReleases(t *testing.T) {
	parting(t, func(t *testing.T, r *Runner, p *parters, _ func() *Runner) {
		bad := without(1, AssignAsked, "hosta")
		bad.Attrs[1].Value = "(hosta"
		before := r.Task()
		if err := r.Tell(t.Context(), bad); pbs.CodeOf(err) != pbs.InvalidRequest {
			t.Errorf("an assignment that cannot be read: %v", err)
		}
		dir := r.site.Spool.TaskDir(testKey)
		if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := r.Tell(t.Context(), without(1, AssignAsked, "hosta")); err == nil {
			t.Error("a release was taken that is on no disk")
		}
		if got := r.Task(); got.Assignment.Number != before.Assignment.Number || len(got.Assignment.Former) > 0 {
			t.Errorf("the task has order %d", got.Assignment.Number)
		}
		heard(t, p)
	})
}

// A run gives 999 of its 1,000 hosts back, and all of them answer at once: what it costs the mother
// superior itself.
func BenchmarkRunner_Releases(b *testing.B) {
	const hosts = 1000
	all := make([]pbs.HostName, hosts)
	for i := range all {
		all[i] = pbs.HostName(fmt.Sprintf("host%d", i))
	}
	for b.Loop() {
		p := &parters{neighbours: &neighbours{}, away: map[pbs.HostName]bool{}}
		s := testSite(b)
		s.Peers, s.Lines, s.Logger = p, silence{}, slog.New(slog.DiscardHandler)
		task := in(Running, after(without(1, AssignDone, all...)))
		task.Host, task.Life.Sisters = all[0], PartsAsked
		for _, h := range all {
			task.Hosts = append(task.Hosts, Host{Name: h, Address: string(h) + ":15002"})
		}
		if err := s.Spool.SaveTask(task.Key, task, true); err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		r := NewRunner(s, task)
		go r.Run(ctx, Announced{})
		began := time.Now()
		for n, step := range []AssignStep{AssignAsked, AssignDone} {
			if err := r.Tell(ctx, without(uint64(n+2), step, all[0])); err != nil {
				b.Fatal(err)
			}
			if step == AssignAsked {
				b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/answered")
			}
		}
		if _, err := r.Await(ctx, func(t Task) bool { return len(t.Assignment.In(MemberLeft)) == hosts-1 }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/left")
		cancel()
		<-r.Done()
	}
}
