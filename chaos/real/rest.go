package real

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/chaos/look"
	"rampart/chaos/world"
	"rampart/cmd/devrun"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/client"
)

// final is a replica at rest: what it handed out, what it says that its state sums up to,
// and its accounting files.
type final struct {
	name   string
	view   *state.View
	sum    uint64
	ledger map[string][]byte
}

// Rest wakes and restarts everything, lets every job go, and waits until all have ended,
// every order is confirmed, and the replicas agree: then it kills one and starts it again,
// which must come to the same (L7).
func (w *World) Rest(ctx context.Context, limit time.Duration) error {
	w.thaw()
	w.restart()
	if err := w.book.close(); err != nil {
		return err
	}
	if err := await(ctx, limit, w.release); err != nil {
		return fmt.Errorf("let every job go: %w", err)
	}
	if err := await(ctx, limit, w.calm); err != nil {
		return fmt.Errorf("come to rest: %w", err)
	}
	last := w.replicas[len(w.kills)%len(w.replicas)].name
	if err := w.cluster.Signal(last, syscall.SIGKILL); err != nil {
		return err
	}
	w.start(last)
	if err := await(ctx, limit, w.calm); err != nil {
		return fmt.Errorf("come to rest after a restart of %s: %w", last, err)
	}
	return nil
}

// release starts the second queue and releases what is held.
func (w *World) release(ctx context.Context) error {
	if _, err := w.cluster.Output(ctx, "qmgr", "-c", "set queue "+world.SecondQueue+" started = True"); err != nil {
		return err
	}
	v, err := w.saved(ctx, 0)
	if err != nil {
		return err
	}
	for j := range v.Jobs() {
		if j.Holds == 0 || j.State == pbs.Finished {
			continue
		}
		_, failed := w.replicas[0].ask.Batch().Release(ctx, connect.NewRequest(&api.ReleaseRequest{Job: string(j.ID), Holds: "uos"}))
		err = errors.Join(err, fmt.Errorf("%s is held", j.ID), failed)
	}
	return err
}

// saved fetches a replica's state as of now, and writes down what it shows. The laws of
// the state were checked by reading it (L3).
func (w *World) saved(ctx context.Context, n int) (*state.View, error) {
	r := w.replicas[n]
	v, err := fetch(ctx, r.ask)
	if err != nil {
		return nil, fmt.Errorf("snapshot of %s: %w", r.name, err)
	}
	w.watcher.Note(r.name, r.starts, v)
	w.tenants.Note(v, time.Since(w.begun))
	return v, nil
}

// fetch reads a snapshot of a replica.
func fetch(ctx context.Context, from *client.Client) (*state.View, error) {
	stream, err := from.Cluster().SaveSnapshot(ctx, connect.NewRequest(&api.SaveSnapshotRequest{}))
	if err != nil {
		return nil, err
	}
	file, write := io.Pipe()
	received := make(chan struct{})
	go func() {
		defer close(received)
		for stream.Receive() {
			if _, err := write.Write(stream.Msg().GetData()); err != nil {
				break
			}
		}
		write.CloseWithError(stream.Err())
	}()
	s, _, err := snapshot.Read(file)
	file.Close()
	<-received
	if err = errors.Join(stream.Err(), stream.Close(), err); err != nil {
		return nil, err
	}
	return s.View(), nil
}

// patrolEvery is how often a patrol looks at the state.
const patrolEvery = 100 * time.Millisecond

// patrol looks at the state of one replica after the other until the world ends, in a world whose jobs
// release vnodes: when these are free is seen from outside, and later than it is so.
func (w *World) patrol() error {
	if w.config.Split == 0 {
		return nil
	}
	var ask []*client.Client
	for _, r := range w.replicas {
		ask = append(ask, w.client(w.office, []string{r.address}, patrolWaits))
	}
	w.patrols.Go(func() {
		for n := 0; ; n++ {
			if v, err := fetch(w.life, ask[n%len(ask)]); err == nil { // else it is dead, or stopped
				w.tenants.Note(v, time.Since(w.begun))
			}
			select {
			case <-w.life.Done():
				return
			case <-time.After(patrolEvery):
			}
		}
	})
	return nil
}

// patrolWaits is how long a replica may take to hand out its state to a patrol.
const patrolWaits = time.Second

// notice writes down what replicas say that their states sum up to.
func (w *World) notice(all []devrun.Replica) {
	for _, r := range all {
		if sum, err := strconv.ParseUint(r.Digest, 16, 64); err == nil && r.Applied > 0 {
			w.watcher.Digest(check.Digest{Replica: r.Name, Index: r.Applied, Sum: sum})
		}
	}
}

// calm tells what still goes on; if nothing does, the replicas are known as they are now,
// all at one index.
func (w *World) calm(ctx context.Context) error {
	w.supervise()
	now := make([]final, len(w.replicas))
	for i, r := range w.replicas {
		v, err := w.saved(ctx, i)
		if err != nil {
			return err
		}
		if text := look.Busy(v); text != "" {
			return errors.New(text)
		}
		files, err := look.Ledger(filepath.Join(w.cluster.Home(r.name), "server_priv", "accounting"))
		if err != nil {
			return err
		}
		if text := look.Unwritten(files, v); text != "" {
			return fmt.Errorf("%s: %s", r.name, text)
		}
		now[i] = final{name: r.name, view: v, ledger: files}
	}
	all, err := w.cluster.Status(ctx)
	if err != nil {
		return err
	}
	for i, f := range now {
		if now[i].sum, err = sumAt(all, f.name, now[0].view.Index()); err != nil {
			return err
		}
		if f.view.Index() != now[0].view.Index() {
			return fmt.Errorf("%s is at index %d, %s at %d", now[0].name, now[0].view.Index(), f.name, f.view.Index())
		}
	}
	w.final = now
	return nil
}

// sumAt returns what a running replica says that its state sums up to at an index.
func sumAt(all []devrun.Replica, name string, index uint64) (uint64, error) {
	for _, r := range all {
		if r.Name == name && r.Applied == index {
			return strconv.ParseUint(r.Digest, 16, 64)
		}
	}
	return 0, fmt.Errorf("%s is not at index %d: %+v", name, index, all)
}

// Evidence returns what the run left behind, but for the history, which the clients have. Times
// of runs count from begun. The world is at rest.
func (w *World) Evidence() (*check.Evidence, error) {
	e := &check.Evidence{OwnBook: true}
	for _, f := range w.final {
		left, err := look.Replica(f.name, f.view, f.ledger)
		if err != nil {
			return nil, err
		}
		left.Reread, left.Sum = left.Sum, f.sum // the view is what went through a file
		e.Replicas = append(e.Replicas, left)
	}
	e.Views, e.Moves = w.watcher.Seen()
	e.Vacated = w.tenants.Vacated()
	var err error
	e.Runs, err = w.book.read(w.begun)
	return e, err
}

// Fatal returns what ended by itself, and what could not be done.
func (w *World) Fatal() []string {
	all := w.fatal
	for _, name := range w.names() {
		want, ok := w.pids[name]
		if pid, err := w.cluster.Pid(name); ok && (err != nil || pid != want) {
			all = append(all, fmt.Sprintf("%s ended by itself (process %d): %v", name, want, err))
		}
	}
	return all
}
