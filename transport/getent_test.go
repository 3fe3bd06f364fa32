package transport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// exitError is a program that failed, as exec.ExitError is.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exitError) ExitCode() int { return int(e) }

// directory answers getent from a table of "database key" and counts.
type directory struct {
	answers map[string]string
	calls   int
	err     error
}

func (d *directory) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	d.calls++
	if d.err != nil {
		return nil, d.err
	}
	if text, ok := d.answers[strings.Join(args, " ")]; ok && program == "getent" {
		return []byte(text), nil
	}
	return nil, exitError(2)
}

var joe = Account{
	Name: "joe", UID: 1000, GID: 100, Home: "/home/joe", Shell: "/bin/sh",
	Group: "users", Groups: []string{"users", "physics", "77"}, GIDs: []uint32{100, 200, 77},
}

func newDirectory() *directory {
	return &directory{answers: map[string]string{
		"passwd joe": "joe:x:1000:100:Joe:/home/joe:/bin/sh\n", "passwd 1000": "joe:x:1000:100:Joe:/home/joe:/bin/sh\n",
		"initgroups joe": "joe                   200 100 77\n", "group 100": "users:x:100:\n", "group 200": "physics:x:200:joe,ann\n",
	}}
}

func TestGetent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirectory()
		g := NewGetent(d.run)
		for range 2 {
			if a, err := g.ByName(t.Context(), "joe"); err != nil || !reflect.DeepEqual(a, joe) {
				t.Fatalf("by name: %+v, %v", a, err)
			}
			if a, err := g.ByUID(t.Context(), 1000); err != nil || !reflect.DeepEqual(a, joe) {
				t.Fatalf("by uid: %+v, %v", a, err)
			}
			if _, err := g.ByUID(t.Context(), 4711); !errors.Is(err, ErrNoAccount) {
				t.Fatalf("nobody's uid: %v", err)
			}
		}
		once := d.calls
		time.Sleep(61 * time.Second)
		if _, err := g.ByName(t.Context(), "joe"); err != nil || d.calls == once {
			t.Errorf("after a minute: %v, %d calls", err, d.calls)
		}
	})
}

func TestGetent_StrangeNames(t *testing.T) {
	d := newDirectory()
	d.answers["passwd 1000 "] = d.answers["passwd joe"]
	g := NewGetent(d.run)
	for _, name := range []string{"", "1000", "joe:x", "--help", "joe\n", "\x00", "ann"} {
		if a, err := g.ByName(t.Context(), name); !errors.Is(err, ErrNoAccount) {
			t.Errorf("%q: %+v, %v", name, a, err)
		}
	}
}

func TestGetent_FailureIsNotAbsence(t *testing.T) {
	d := newDirectory()
	d.err = exitError(3)
	g := NewGetent(d.run)
	if _, err := g.ByName(t.Context(), "joe"); err == nil || errors.Is(err, ErrNoAccount) {
		t.Errorf("a directory that fails: %v", err)
	}
	d.err = nil
	if _, err := g.ByName(t.Context(), "joe"); err != nil {
		t.Errorf("the failure was kept: %v", err)
	}
}

func TestGetent_HasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGetent(func(ctx context.Context, _ string, _ ...string) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		start := time.Now()
		if _, err := g.ByName(t.Context(), "joe"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != getentDeadline {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestGetent_FromFilesWithoutIt(t *testing.T) {
	d := newDirectory()
	d.err = &exec.Error{Name: "getent", Err: exec.ErrNotFound}
	g := NewGetent(d.run)
	files := map[string]string{
		"/etc/passwd": "root:x:0:0::/root:/bin/sh\nbroken\njoe:x:1000:100:Joe:/home/joe:/bin/sh\n",
		"/etc/group":  "users:x:100:\nphysics:x:200:ann,joe\nlp:x:7:ann\n",
	}
	g.read = func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	a, err := g.ByUID(t.Context(), 1000)
	if err != nil || a.Name != "joe" || !reflect.DeepEqual(a.Groups, []string{"users", "physics"}) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := g.ByName(t.Context(), "ann"); !errors.Is(err, ErrNoAccount) {
		t.Errorf("nobody: %v", err)
	}
}

// The real thing, on whatever host this is: root is everywhere.
func TestGetent_Root(t *testing.T) {
	a, err := NewGetent(Exec).ByUID(t.Context(), 0)
	if err != nil || a.Name != "root" || a.GID != 0 || len(a.Groups) == 0 || a.Groups[0] != a.Group {
		t.Errorf("%+v, %v", a, err)
	}
}
