package ledger

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/api"
)

// scripted is a peer whose answer to each call is a function.
type scripted func(ctx context.Context, call int, first, last uint64, yield func(Record) error) error

type scriptedPeer struct {
	answer scripted
	calls  int
}

func (p *scriptedPeer) Name() string { return "scripted" }
func (p *scriptedPeer) Records(ctx context.Context, first, last uint64, yield func(Record) error) (kept uint64, err error) {
	p.calls++
	return 0, p.answer(ctx, p.calls, first, last, yield)
}

func give(dir string, first, last uint64, yield func(Record) error) error {
	_, err := (&other{dir: dir}).Records(context.Background(), first, last, yield)
	return err
}

var errDied = errors.New("connection reset")

func TestGap_PeersThatFail(t *testing.T) {
	for name, peers := range map[string]func(there string) []scripted{
		"dies in the middle of a stream, again and again": func(there string) []scripted {
			return []scripted{func(_ context.Context, call int, first, last uint64, yield func(Record) error) error {
				if err := give(there, first, min(last, first+2), yield); err != nil || call > 5 {
					return err
				}
				return errDied
			}}
		},
		"falls silent in the middle of a stream": func(there string) []scripted {
			silent := func(ctx context.Context, _ int, first, _ uint64, yield func(Record) error) error {
				if err := give(there, first, first+3, yield); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			}
			return []scripted{silent, silent}
		},
		"each has another gap": func(there string) []scripted {
			without := func(a, b uint64) scripted {
				return func(_ context.Context, _ int, first, last uint64, yield func(Record) error) error {
					return give(there, first, last, func(r Record) error {
						if r.Number >= a && r.Number <= b {
							return nil
						}
						return yield(r)
					})
				}
			}
			return []scripted{without(3, 7), without(8, 11)}
		},
		"sends what nobody asked for": func(there string) []scripted {
			return []scripted{
				func(_ context.Context, _ int, first, _ uint64, yield func(Record) error) error {
					return yield(Record{Number: first, Day: "../../etc", Line: []byte("x\n")})
				},
				func(_ context.Context, _ int, first, last uint64, yield func(Record) error) error {
					return give(there, first, last, yield)
				},
			}
		},
		"all are away for an hour": func(there string) []scripted {
			began := time.Now()
			return []scripted{func(_ context.Context, _ int, first, last uint64, yield func(Record) error) error {
				if time.Since(began) < time.Hour {
					return errDied
				}
				return give(there, first, last, yield)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, there := t.TempDir(), t.TempDir()
				write(t, there, records(1, 20))
				var all []Peer
				for _, answer := range peers(there) {
					all = append(all, &scriptedPeer{answer: answer})
				}
				l, stop := start(t, dir, &memLog{}, all...)
				l.Expect(20)
				time.Sleep(2 * time.Hour)
				eventually(t, "the files are equal", func() bool { return maps.Equal(dayFiles(t, dir), dayFiles(t, there)) })
				stop()
				if lost, err := readLost(dir); err != nil || len(lost) > 0 {
					t.Errorf("lost %v, %v", lost, err)
				}
			})
		})
	}
}

// A replica that was away too long gets a snapshot, and while the gap of the first
// is fetched, another; entries come in between.
func TestGap_SecondSnapshotWhileTheFirstGapIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, there := t.TempDir(), t.TempDir()
		a, stopA := start(t, there, &memLog{})
		for i := uint64(1); i <= 30; i++ {
			a.Append(entry(i, 2*i-1, 2*i))
		}
		if err := a.WaitSynced(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		stopA()
		asked, goOn := make(chan bool), make(chan bool)
		slow := &scriptedPeer{answer: func(_ context.Context, call int, first, last uint64, yield func(Record) error) error {
			if call == 1 {
				asked <- true
				<-goOn
			}
			return give(there, first, last, yield)
		}}
		log := &memLog{}
		l, stop := start(t, dir, log, slow)
		l.Append(entry(1, 1, 2))
		l.Expect(20)
		l.Append(entry(11, 21, 22))
		<-asked
		l.Append(entry(12, 23, 24))
		l.Expect(50)
		l.Append(entry(26, 51, 52))
		goOn <- true
		for i := uint64(27); i <= 30; i++ {
			l.Append(entry(i, 2*i-1, 2*i))
		}
		if err := l.WaitSynced(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		stop()
		if got, want := dayFiles(t, dir), dayFiles(t, there); !maps.Equal(got, want) {
			t.Errorf("the files differ:\n%q\n%q", got, want)
		}
		if len(log.alarms) > 0 {
			t.Errorf("a gap in front is no damage: %q", log.alarms)
		}
	})
}

// A disk that is full while records are fetched is waited for.
func TestGap_FullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	for _, behind := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir, there := grown(t)
			day := daysOf(t, dir)[0]
			full := filepath.Join(dir, day)
			if behind {
				damages["both removed"](t, full, filepath.Join(dir, indexName(day)))
				full = filepath.Join(dir, draftName(day))
			} else {
				refill(t, dir, nil)
			}
			if err := os.Symlink("/dev/full", full); err != nil {
				t.Fatal(err)
			}
			l, stop := start(t, dir, &memLog{}, &other{dir: there})
			l.Expect(20)
			time.Sleep(3 * time.Minute)
			if err := os.Remove(full); err != nil && !behind {
				t.Fatal(err)
			}
			eventually(t, "the files are equal", func() bool { return maps.Equal(dayFiles(t, dir), dayFiles(t, there)) })
			stop()
		})
	}
}

// One that has not written so far does not speak for the records to come.
func TestGap_PeerThatLagsHasNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, stop := start(t, t.TempDir(), &memLog{})
		defer stop()
		l.Append(entry(1, 1, 2))
		if err := l.WaitSynced(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if err := l.Records(1, 3, func(*api.LedgerRecord) error { return nil }); err == nil {
			t.Error("no error for records that may come")
		}
		if err := l.Records(1, 2, func(*api.LedgerRecord) error { return nil }); err != nil {
			t.Errorf("records that are here: %v", err)
		}
	})
}
