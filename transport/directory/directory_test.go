package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/known"
)

// exitError is a program that failed, as exec.ExitError is.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exitError) ExitCode() int { return int(e) }

// ldap answers getent from a table of "database key" and counts.
type ldap struct {
	mu      sync.Mutex
	answers map[string]string
	calls   int
	hangs   bool
	mute    bool
	err     error
}

func (d *ldap) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.err != nil {
		return nil, d.err
	}
	if d.hangs {
		d.mu.Unlock()
		<-ctx.Done()
		d.mu.Lock()
		return nil, ctx.Err()
	}
	if d.mute {
		return nil, nil
	}
	if text, ok := d.answers[strings.Join(args, " ")]; ok && program == "getent" {
		return []byte(text), nil
	}
	return nil, exitError(2)
}

var joe = transport.Account{
	Name: "joe", UID: 1000, GID: 100, Home: "/home/joe", Shell: "/bin/sh",
	Group: "users", Groups: []string{"users", "physics", "77"}, GIDs: []uint32{100, 200, 77},
}

// set changes how it answers.
func (d *ldap) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// asked returns how often it was asked.
func (d *ldap) asked() (calls int) {
	d.set(func() { calls = d.calls })
	return calls
}

func newDirectory(t *testing.T, opts Options) (*ldap, *Directory) {
	d := &ldap{answers: map[string]string{
		"passwd joe": "joe:x:1000:100:Joe:/home/joe:/bin/sh\n", "passwd 1000": "joe:x:1000:100:Joe:/home/joe:/bin/sh\n",
		"initgroups joe": "joe                   200 100 77\n", "group 200 77": "physics:x:200:joe,ann\n",
		"passwd loc": "loc:x:500:100::/home/loc:/bin/sh\n", "initgroups loc": "loc 100 200\n", "group 200": "physics:x:200:loc\n",
	}}
	opts.Run = d.run
	opts.Etc = fstest.MapFS{
		"passwd": {Data: []byte("root:x:0:0::/root:/bin/sh\nbroken\n+::::::\nloc:x:500:100:Local:/home/loc:/bin/sh\n")},
		"group":  {Data: []byte("root:x:0:\nusers:x:100:\nlp:x:7:loc,root\n")},
	}
	dir := New(opts)
	t.Cleanup(dir.Close)
	return d, dir
}

func TestDirectory(t *testing.T) {
	joe := joe
	synctest.Test(t, func(t *testing.T) {
		d, g := newDirectory(t, Options{})
		for range 2 {
			joe.Told = time.Now()
			if a, err := g.ByName(t.Context(), "joe"); err != nil || !reflect.DeepEqual(a, joe) {
				t.Fatalf("by name: %+v, %v", a, err)
			}
			if a, err := g.ByUID(t.Context(), 1000); err != nil || !reflect.DeepEqual(a, joe) {
				t.Fatalf("by uid: %+v, %v", a, err)
			}
			if _, err := g.ByUID(t.Context(), 4711); !errors.Is(err, transport.ErrNoAccount) {
				t.Fatalf("nobody's uid: %v", err)
			}
		}
		once := d.asked()
		time.Sleep(61 * time.Second)
		if _, err := g.ByName(t.Context(), "joe"); err != nil || d.asked() == once {
			t.Errorf("after a minute: %v, %d calls", err, d.asked())
		}
	})
}

// Accounts of the files need nobody else; the directory adds groups while it answers.
func TestDirectory_Files(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d, g := newDirectory(t, Options{})
			d.hangs = hangs
			want := []string{"users", "lp", "physics"}
			if hangs {
				want = want[:2]
			}
			begin := time.Now()
			if a, err := g.ByName(t.Context(), "loc"); err != nil || a.UID != 500 || !reflect.DeepEqual(a.Groups, want) || time.Since(begin) >= time.Second {
				t.Errorf("hangs %v: %+v, %v after %v", hangs, a, err, time.Since(begin))
			}
			begin = time.Now()
			calls := d.asked()
			if a, err := g.ByUID(t.Context(), 500); err != nil || a.Name != "loc" {
				t.Errorf("hangs %v: %+v, %v", hangs, a, err)
			}
			if a, err := g.ByName(t.Context(), "root"); err != nil || a.UID != 0 || a.Group != "root" {
				t.Errorf("hangs %v: %+v, %v", hangs, a, err)
			}
			if time.Since(begin) != 0 || d.asked() != calls {
				t.Errorf("hangs %v: root and numbers took %v and %d questions", hangs, time.Since(begin), d.asked()-calls)
			}
		})
	}
}

// A directory that hangs costs those nothing who are known, and two seconds those who are not.
func TestDirectory_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(strings.Builder)
		forgotten := map[string]time.Time{}
		d, g := newDirectory(t, Options{
			Logger:    slog.New(slog.NewTextHandler(log, nil)),
			Owns:      func(name string) bool { return name == "joe" },
			Forgotten: func(name string) time.Time { return forgotten[name] },
		})
		if _, err := g.ByUID(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		d.set(func() { d.hangs = true })
		time.Sleep(20 * known.Day)
		if a, err := g.ByUID(t.Context(), 1000); err != nil || a.Name != "joe" {
			t.Errorf("an owner of jobs: %+v, %v", a, err)
		}
		begin := time.Now()
		_, err := g.ByName(t.Context(), "ann")
		if pbs.CodeOf(err) != pbs.NoDirectory || !strings.Contains(err.Error(), "does not answer") || time.Since(begin) > 2*time.Second {
			t.Errorf("a stranger: %v after %v", err, time.Since(begin))
		}
		if g.Silent().Err == nil || strings.Count(log.String(), "does not answer") != 1 {
			t.Errorf("silent: %+v, log %q", g.Silent(), log)
		}
		forgotten["joe"] = time.Now()
		if a, err := g.ByUID(t.Context(), 1000); pbs.CodeOf(err) != pbs.NoDirectory {
			t.Errorf("forgotten: %+v, %v", a, err)
		}
	})
}

func TestDirectory_StrangeNames(t *testing.T) {
	d, g := newDirectory(t, Options{})
	d.answers["passwd 1000 "] = d.answers["passwd joe"]
	for _, name := range []string{"", "1000", "joe:x", "--help", "joe\n", "\x00", "ann"} {
		if a, err := g.ByName(t.Context(), name); !errors.Is(err, transport.ErrNoAccount) {
			t.Errorf("%q: %+v, %v", name, a, err)
		}
	}
}

// Neither a directory that fails nor one that ends without a word has said that somebody is
// not there.
func TestDirectory_FailureIsNotAbsence(t *testing.T) {
	for name, fail := range map[string]func(d *ldap){
		"fails": func(d *ldap) { d.err = exitError(3) },
		"mute":  func(d *ldap) { d.mute = true },
	} {
		synctest.Test(t, func(t *testing.T) {
			d, g := newDirectory(t, Options{})
			if _, err := g.ByUID(t.Context(), 1000); err != nil {
				t.Fatal(err)
			}
			d.set(func() { fail(d) })
			if _, err := g.ByName(t.Context(), "joe"); err == nil || errors.Is(err, transport.ErrNoAccount) {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(time.Hour)
			if a, err := g.ByUID(t.Context(), 1000); err != nil || a.Name != "joe" {
				t.Errorf("%s, who is known: %+v, %v", name, a, err)
			}
		})
	}
}

// Without getent there are the files.
func TestDirectory_WithoutGetent(t *testing.T) {
	d, g := newDirectory(t, Options{})
	d.err = &exec.Error{Name: "getent", Err: exec.ErrNotFound}
	if a, err := g.ByUID(t.Context(), 500); err != nil || a.Name != "loc" || !reflect.DeepEqual(a.Groups, []string{"users", "lp"}) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := g.ByName(t.Context(), "ann"); !errors.Is(err, transport.ErrNoAccount) {
		t.Errorf("nobody: %v", err)
	}
}

// The real thing, on whatever host this is: root is everywhere.
func TestDirectory_Root(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	a, err := g.ByUID(t.Context(), 0)
	if err != nil || a.Name != "root" || a.GID != 0 || len(a.Groups) == 0 || a.Groups[0] != a.Group {
		t.Errorf("%+v, %v", a, err)
	}
}

// A program that leaves a process behind with its output open holds nobody.
func TestExec_LeftBehind(t *testing.T) {
	out, err := Exec(t.Context(), "/bin/sh", "-c", "sleep 600 & echo $!")
	pid, errPID := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || errPID != nil {
		t.Fatalf("%q: %v, %v", out, err, errPID)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
