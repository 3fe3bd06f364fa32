package mail_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/mail"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A house is a state with jobs, and what was mailed.
type house struct {
	t     *testing.T
	mu    sync.Mutex
	store *state.Store
	index uint64
	news  chan struct{}
	lost  bool // proposals come to nothing
	sent  []string
}

func newHouse(t *testing.T) *house {
	h := &house{t: t, store: state.NewStore(), news: make(chan struct{})}
	h.do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	return h
}

func (h *house) View() *state.View {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.store.View()
}

func (h *house) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.news
}

func (h *house) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	h.mu.Lock()
	lost := h.lost
	h.mu.Unlock()
	if lost {
		return command.Outcome{}, errors.New("this replica does not lead")
	}
	return h.do(p.Commands...), nil
}

func (h *house) do(list ...command.Command) command.Outcome {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.index++
	out, _ := command.Run(h.store, h.index, 1, command.Entry{
		Time: pbs.Time(time.Now().UnixNano()), Proposals: []command.Proposal{{Asker: pbs.User{Name: "root", Host: "s1"}, Commands: list}},
	})
	h.store.Publish()
	if err := out[0].Err(); err != nil {
		h.t.Fatal(err)
	}
	close(h.news)
	h.news = make(chan struct{})
	return out[0]
}

// abandon submits a job of ann's that is deleted by somebody else: a mail.
func (h *house) abandon() pbs.JobID {
	out := h.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}, Attributes: attr.List{{Name: "Job_Name", Value: "work"}}})
	h.do(&command.DeleteJob{Job: out.Result.Job})
	return out.Result.Job
}

func (h *house) pending() (n int) {
	for range h.View().Mails() {
		n++
	}
	return n
}

func (h *house) run(ctx context.Context, send func(context.Context, mail.Letter) error) {
	_ = mail.New(mail.Options{Source: h, Proposer: h, Logger: slog.New(slog.DiscardHandler), Send: func(ctx context.Context, l mail.Letter) error {
		err := send(ctx, l)
		if err == nil {
			h.mu.Lock()
			h.sent = append(h.sent, string(l.Text))
			h.mu.Unlock()
		}
		return err
	}}).Run(ctx)
}

// mailed returns what was sent so far.
func (h *house) mailed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}

// lose lets proposals come to nothing, or not.
func (h *house) lose(lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = lost
}

func delivered(context.Context, mail.Letter) error { return nil }

func TestPost_SendsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go h.run(ctx, delivered)
		id := h.abandon()
		time.Sleep(time.Minute)
		want := fmt.Sprintf("To: ann@login1\nSubject: PBS JOB %s\n\nPBS Job Id: %s\nJob Name:   work\nJob to be deleted at request of root@s1\n", id, id)
		if sent := h.mailed(); len(sent) != 1 || sent[0] != want {
			t.Errorf("sent %q, want %q", sent, want)
		}
		if n := h.pending(); n != 0 {
			t.Errorf("%d mails are pending", n)
		}
	})
}

// TestPost_Host: mail to nobody in particular, or to a name without a host, goes to the host of pbs.conf; who is named with one gets it
// there, and the owner when somebody else is named does not.
func TestPost_Host(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var to []string
		post := mail.New(mail.Options{Source: h, Proposer: h, Logger: slog.New(slog.DiscardHandler), Host: "mail.site", Send: func(_ context.Context, l mail.Letter) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			to = append(to, strings.Join(l.To, " "))
			if !strings.HasPrefix(string(l.Text), "To: "+strings.Join(l.To, ", ")+"\n") {
				t.Errorf("to %q: %s", l.To, l.Text)
			}
			return nil
		}})
		go func() { _ = post.Run(ctx) }()
		for _, users := range []string{"", "bob,eve@login1,ann@login1"} {
			list := attr.List{{Name: "Job_Name", Value: "work"}}
			if users != "" {
				list = list.Set("Mail_Users", "", users)
			}
			out := h.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}, Attributes: list})
			h.do(&command.DeleteJob{Job: out.Result.Job})
			time.Sleep(time.Minute)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if want := []string{"ann@mail.site", "bob@mail.site eve@login1 ann@login1"}; !slices.Equal(to, want) {
			t.Errorf("mails went to %q, want %q", to, want)
		}
	})
}

// TestPost_LeaderDies: a mail whose sending was not committed is sent by the next leader;
// none is lost.
func TestPost_LeaderDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		for range 10 {
			h.abandon()
		}
		h.lose(true)
		first, kill := context.WithCancel(t.Context())
		go h.run(first, delivered)
		time.Sleep(time.Minute)
		kill()
		synctest.Wait()
		if len(h.mailed()) != 10 || h.pending() != 10 {
			t.Errorf("sent %d, pending %d", len(h.mailed()), h.pending())
		}
		h.lose(false)
		next, end := context.WithCancel(t.Context())
		defer end()
		go h.run(next, delivered)
		time.Sleep(time.Minute)
		if len(h.mailed()) != 20 || h.pending() != 0 {
			t.Errorf("after the next leader: sent %d, pending %d", len(h.mailed()), h.pending())
		}
	})
}

func TestPost_GivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var tries atomic.Int32
		bad := h.abandon()
		go h.run(ctx, func(_ context.Context, l mail.Letter) error {
			if strings.Contains(string(l.Text), string(bad)) {
				tries.Add(1)
				return errors.New("no such program")
			}
			return nil
		})
		time.Sleep(time.Second)
		h.abandon()
		time.Sleep(time.Second)
		if len(h.mailed()) != 1 {
			t.Errorf("one that cannot be sent holds up the others: %d sent", len(h.mailed()))
		}
		time.Sleep(time.Hour)
		if tries.Load() != 5 || h.pending() != 0 {
			t.Errorf("%d attempts, %d pending", tries.Load(), h.pending())
		}
	})
}

func TestPost_HangingMailerHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		bad := h.abandon()
		go h.run(ctx, func(ctx context.Context, l mail.Letter) error {
			if strings.Contains(string(l.Text), string(bad)) {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		time.Sleep(time.Second)
		h.abandon()
		time.Sleep(time.Second)
		if len(h.mailed()) != 1 {
			t.Errorf("%d sent while one hangs", len(h.mailed()))
		}
	})
}

func TestSend(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "mail") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	mailer := filepath.Join(dir, "mailer")
	script := "#!/bin/sh\ncase $4 in slow) sleep 100;; bad) echo no such user; exit 67;; esac\necho \"$@\" > " + dir + "/args; cat > " + dir + "/text; id -u > " + dir + "/uid\n"
	if err := os.WriteFile(mailer, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	send := func(after time.Duration, to ...string) error {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		return mail.Send(ctx, mail.Letter{Mailer: mailer, From: "adm", To: to, Text: []byte("hello\n")})
	}
	if err := send(20*time.Second, "ann@a", "bob@b"); err != nil {
		t.Fatal(err)
	}
	args, _ := os.ReadFile(filepath.Join(dir, "args"))
	text, _ := os.ReadFile(filepath.Join(dir, "text"))
	if string(args) != "-f adm ann@a bob@b\n" || string(text) != "hello\n" {
		t.Errorf("the mailer got %q and %q", args, text)
	}
	if uid, _ := os.ReadFile(filepath.Join(dir, "uid")); len(uid) == 0 || strings.TrimSpace(string(uid)) == "0" {
		t.Errorf("the mailer ran as uid %s", uid)
	}
	if err := send(20*time.Second, "ann@a", "bad"); err == nil || !strings.Contains(err.Error(), "no such user") {
		t.Errorf("a refusal: %v", err)
	}
	began := time.Now()
	if err := send(200*time.Millisecond, "ann@a", "slow"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("a mailer that hangs: %v after %v", err, time.Since(began))
	}
	if err := mail.Send(t.Context(), mail.Letter{Mailer: filepath.Join(dir, "none")}); err == nil {
		t.Error("a mailer that is missing sends")
	}
}
