package task

import (
	"context"
	"errors"
	"os"
	"time"
)

// followEvery is how often somebody who follows a job's output is shown what is new of it.
const followEvery = 250 * time.Millisecond

// A Piece is what a job has written next. The first one of standard error has no data: that stream is a file of its own.
type Piece struct {
	Failure bool // of standard error
	Data    []byte
	Next    int64 // the offset behind it
}

// Follow hands on what a job that runs here writes, from offsets of standard output and standard error on, until all of its processes are gone. It
// holds the files, so that what was written last is seen wherever they are being delivered to meanwhile.
func Follow(ctx context.Context, r *Runner, output, failure int64, send func(Piece) error) error {
	if err := noOutput(r.Task()); err != nil {
		return err
	}
	f := &following{r: r, send: send, at: [2]int64{max(output, 0), max(failure, 0)}}
	defer f.close()
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		changed := *r.changed.Load()
		over := r.Task().State() >= Delivering // afterwards nobody writes
		if err := f.show(ctx); err != nil || over {
			return err
		}
		look.Reset(followEvery)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-look.C:
		}
	}
}

// A following is a reader of the output of a run.
type following struct {
	r     *Runner
	send  func(Piece) error
	files [2]*written // nil: not there yet
	at    [2]int64
	apart bool // it was said that standard error is a file of its own
}

// show hands on all that is there.
func (f *following) show(ctx context.Context) error {
	for i, kind := range f.r.Task().streams() {
		if i == 1 && !f.apart {
			f.apart = true
			if err := f.send(Piece{Failure: true, Next: f.at[i]}); err != nil {
				return err
			}
		}
		if err := f.open(ctx, i, kind); err != nil || f.files[i] == nil {
			return err
		}
		for {
			g := Glimpse{Next: f.at[i]}
			if err := f.files[i].glimpse(ctx, f.at[i], &g); err != nil {
				return err
			}
			if len(g.Data) == 0 {
				break
			}
			if err := f.send(Piece{Failure: i == 1, Data: g.Data, Next: g.Next}); err != nil {
				return err
			}
			f.at[i] = g.Next
		}
	}
	return nil
}

// open opens a stream that nobody has opened yet, if it is there.
func (f *following) open(ctx context.Context, i int, kind string) error {
	if f.files[i] != nil {
		return nil
	}
	file, err := f.r.site.output().open(ctx, f.r.Task(), kind)
	if errors.Is(err, os.ErrNotExist) { // the job is being started
		return nil
	}
	f.files[i] = file
	return err
}

func (f *following) close() {
	for _, file := range f.files {
		if file != nil {
			_ = file.Close()
		}
	}
}
