package ledger

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// dayFiles returns the day files and sidecars of a folder by name.
func dayFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := files(t, dir)
	for name := range all {
		_, sidecar := dayOf(name)
		if !validDay(name) && !sidecar {
			delete(all, name)
		}
	}
	return all
}

// eventually waits for a condition in the bubble's time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 6000 {
		synctest.Wait()
		if ok() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// edit changes a file in place.
func edit(t *testing.T, path string, change func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// damages are what may be done to a day file and its sidecar by hand.
var damages = map[string]func(t *testing.T, data, index string){
	"a letter": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	},
	"a longer line": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte { return bytes.Replace(b, []byte("requestor="), []byte("requestor=corrected"), 1) })
	},
	"the last line": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte { b[len(b)-3] ^= 1; return b })
	},
	"a line deleted": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] })
	},
	"lines swapped": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte {
			l := bytes.SplitAfter(b, []byte("\n"))
			l[0], l[1] = l[1], l[0]
			return bytes.Join(l, nil)
		})
	},
	"a line more": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte { return append(b, "11/01/2026 10:00:00;E;1.srv;a=1\n"...) })
	},
	"a line first": func(t *testing.T, data, _ string) {
		edit(t, data, func(b []byte) []byte { return append([]byte("# checked\n"), b...) })
	},
	"cut":           func(t *testing.T, data, _ string) { edit(t, data, func(b []byte) []byte { return b[:len(b)-20] }) },
	"emptied":       func(t *testing.T, data, _ string) { edit(t, data, func([]byte) []byte { return nil }) },
	"data removed":  func(t *testing.T, data, _ string) { remove(t, data) },
	"index removed": func(t *testing.T, _, index string) { remove(t, index) },
	"both removed":  func(t *testing.T, data, index string) { remove(t, data); remove(t, index) },
	"index cut":     func(t *testing.T, _, index string) { edit(t, index, func(b []byte) []byte { return b[:len(b)-5] }) },
	"a slot less": func(t *testing.T, _, index string) {
		edit(t, index, func(b []byte) []byte { return b[slotSize:] })
	},
	"a high number last": func(t *testing.T, _, index string) {
		edit(t, index, func(b []byte) []byte { b[len(b)-slotSize] = '7'; return b })
	},
	"a long line": func(t *testing.T, _, index string) {
		edit(t, index, func(b []byte) []byte { b[32], b[33] = 'f', 'f'; return b })
	},
	"index of zeros": func(t *testing.T, _, index string) {
		edit(t, index, func(b []byte) []byte { return make([]byte, len(b)) })
	},
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// grown returns two folders that a ledger wrote and synced, with 20 records.
func grown(t *testing.T) (dir, there string) {
	t.Helper()
	there, dir = t.TempDir(), t.TempDir()
	l, stop := start(t, there, &memLog{})
	for i := uint64(1); i <= 10; i++ {
		l.Append(entry(i, 2*i-1, 2*i))
	}
	if err := l.WaitSynced(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := os.CopyFS(dir, os.DirFS(there)); err != nil {
		t.Fatal(err)
	}
	return dir, there
}

// daysOf names the day files of a folder, the oldest first.
func daysOf(t *testing.T, dir string) []string {
	t.Helper()
	days, err := sidecars(dir)
	if err != nil {
		t.Fatal(err)
	}
	return days
}

func TestMend_DamageByHand(t *testing.T) {
	for name, damage := range damages {
		for _, which := range []string{"oldest", "newest"} {
			t.Run(name+" of the "+which, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dir, there := grown(t)
					days := daysOf(t, dir)
					day := days[0]
					if which == "newest" {
						day = days[len(days)-1]
					}
					damage(t, filepath.Join(dir, day), filepath.Join(dir, indexName(day)))
					log := &memLog{}
					l, stop := start(t, dir, log, &other{dir: there, fails: 2})
					l.Expect(20)
					want := dayFiles(t, there)
					eventually(t, "the files are equal again", func() bool { return maps.Equal(dayFiles(t, dir), want) })
					time.Sleep(time.Minute)
					if got := dayFiles(t, dir); !maps.Equal(got, want) {
						t.Errorf("not left alone when mended: %q", got)
					}
					stop()
					if which == "oldest" && len(log.alarms) == 0 {
						t.Error("nothing was said")
					}
					quiet := &memLog{}
					_, stop = start(t, dir, quiet, &other{dir: there})
					time.Sleep(time.Minute)
					stop()
					if len(quiet.alarms) > 0 {
						t.Errorf("after a restart: %q", quiet.alarms)
					}
				})
			})
		}
	}
}

func TestMend_DamagedFileIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, there := grown(t)
		day := daysOf(t, dir)[0]
		damages["a letter"](t, filepath.Join(dir, day), "")
		damaged, err := os.ReadFile(filepath.Join(dir, day))
		if err != nil {
			t.Fatal(err)
		}
		log := &memLog{}
		_, stop := start(t, dir, log, &other{dir: there})
		eventually(t, "mended", func() bool { return maps.Equal(dayFiles(t, dir), dayFiles(t, there)) })
		stop()
		kept, err := os.ReadFile(filepath.Join(dir, "damaged."+day))
		if err != nil || !bytes.Equal(kept, damaged) {
			t.Errorf("set aside: %q, %v", kept, err)
		}
		if said := strings.Join(log.alarms, "\n"); !strings.Contains(said, day+" is damaged") || !strings.Contains(said, "missing and are fetched from the other replicas: records ") {
			t.Errorf("said: %q", log.alarms)
		}
	})
}

// The only replica keeps what is whole, says once what is lost, and asks no more.
func TestMend_RecordThatNoReplicaHas(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, _ := grown(t)
				before := numbersOf(dir)
				day := daysOf(t, dir)[0]
				damage(t, filepath.Join(dir, day), filepath.Join(dir, indexName(day)))
				log := &memLog{}
				l, stop := start(t, dir, log)
				time.Sleep(5 * time.Minute)
				l.Append(entry(11, 21))
				if err := l.WaitSynced(t.Context(), 21); err != nil {
					t.Fatal(err)
				}
				stop()
				lost, err := readLost(dir)
				if err != nil {
					t.Fatal(err)
				}
				if got := numbersOf(dir).plus(lost); got.String() != "1-21" {
					t.Errorf("held %v, now %v, lost %v", before, numbersOf(dir), lost)
				}
				said := 0
				for _, text := range log.alarms {
					if strings.Contains(text, "exist on no replica any more") {
						said++
					}
				}
				if said > 1 || said == 1 != (len(lost) > 0) {
					t.Errorf("lost %v, said %q", lost, log.alarms)
				}
				quiet := &memLog{}
				_, stop = start(t, dir, quiet)
				time.Sleep(5 * time.Minute)
				stop()
				if len(quiet.alarms) > 0 {
					t.Errorf("after a restart: %q", quiet.alarms)
				}
			})
		})
	}
}

func numbersOf(dir string) numbers {
	var all numbers
	for r := range Read(dir, 0, 1000) {
		all = all.with(r.Number)
	}
	return all
}

// Whole lines behind an edit are kept, though all of them have moved.
func TestMend_KeepsWhatIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, _ := grown(t)
		day := daysOf(t, dir)[0]
		edit(t, filepath.Join(dir, day), func(b []byte) []byte {
			return bytes.Replace(b, []byte("requestor=ann"), []byte("requestor=bernadette"), 1)
		})
		_, stop := start(t, dir, &memLog{})
		time.Sleep(time.Minute)
		stop()
		if lost, err := readLost(dir); err != nil || lost.String() != "1" {
			t.Errorf("lost %v, %v", lost, err)
		}
	})
}

// What the log still has, its replay gives back: to the only replica too.
func TestMend_FromTheLog(t *testing.T) {
	for name, damage := range damages {
		for _, which := range []int{0, 1} {
			t.Run(fmt.Sprint(name, " of day ", which), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dir, _ := grown(t)
					want := dayFiles(t, dir)
					day := daysOf(t, dir)[which]
					damage(t, filepath.Join(dir, day), filepath.Join(dir, indexName(day)))
					l, stop := start(t, dir, &memLog{})
					for i := uint64(1); i <= 10; i++ {
						l.Append(entry(i, 2*i-1, 2*i))
					}
					eventually(t, "mended", func() bool { return maps.Equal(dayFiles(t, dir), want) })
					stop()
					if lost, err := readLost(dir); err != nil || len(lost) > 0 {
						t.Errorf("lost %v, %v", lost, err)
					}
				})
			})
		}
	}
}

// The file being written is replaced, cut or removed under the writer's hands.
func TestMend_FileOfTodayChangedWhileItIsWritten(t *testing.T) {
	replace := func(t *testing.T, data, _ string) {
		b, err := os.ReadFile(data)
		if err == nil {
			err = os.WriteFile(data+"~", bytes.Replace(b, []byte("ann"), []byte("anna"), 1), 0o640)
		}
		if err == nil {
			err = os.Rename(data+"~", data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cases := maps.Clone(damages)
	cases["replaced by an editor"] = replace
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				there, dir := t.TempDir(), t.TempDir()
				a, stopA := start(t, there, &memLog{})
				b, stopB := start(t, dir, &memLog{}, &other{dir: there})
				add := func(i uint64) {
					for _, l := range []*Ledger{a, b} {
						l.Append(entry(i, 2*i-1, 2*i))
						if err := l.WaitSynced(t.Context(), 2*i); err != nil {
							t.Fatal(err)
						}
					}
				}
				for i := uint64(1); i <= 8; i++ {
					add(i)
				}
				days := daysOf(t, dir)
				day := days[len(days)-1]
				damage(t, filepath.Join(dir, day), filepath.Join(dir, indexName(day)))
				for i := uint64(9); i <= 20; i++ {
					add(i)
				}
				eventually(t, "the files are equal again", func() bool { return maps.Equal(dayFiles(t, dir), dayFiles(t, there)) })
				stopA()
				stopB()
			})
		})
	}
}

// The crash of a mending leaves it done or not begun.
func TestMend_CrashInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, there := grown(t)
		want := dayFiles(t, there)
		day := daysOf(t, dir)[0]
		mended := func(dir string) *draft {
			d, err := newDraft(dir, day)
			for r, failed := range wholeOf(context.Background(), there, day, everything, nil) {
				if err == nil && failed == nil {
					err = d.add(r)
				}
			}
			if err == nil {
				err = d.sync()
			}
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		damages["a line deleted"](t, filepath.Join(dir, day), "")
		path := func(name string) string { return filepath.Join(dir, name) }
		crashes := []func() error{
			func() error { return os.MkdirAll(path(mendDir+"/7"), 0o750) },
			func() error { return mended(dir).close() },
			func() error {
				if err := mended(dir).close(); err != nil {
					return err
				}
				return os.Rename(path(draftName(day)), path(readyName(day)))
			},
			func() error { return mended(dir).decide() },
			func() error {
				if err := mended(dir).decide(); err != nil {
					return err
				}
				return os.Rename(path(readyName(day)), path(day))
			},
		}
		for i, crash := range crashes {
			if err := crash(); err != nil {
				t.Fatal(err)
			}
			_, stop := start(t, dir, &memLog{}, &other{dir: there})
			eventually(t, "mended", func() bool { return maps.Equal(dayFiles(t, dir), want) })
			stop()
			left, err := filepath.Glob(path(".*.*d*y"))
			if _, missing := os.Stat(path(mendDir)); err != nil || len(left) > 0 || missing == nil {
				t.Errorf("crash %d left %q", i, left)
			}
			if got := numbersOf(dir).String(); got != "1-20" {
				t.Errorf("crash %d: %s", i, got)
			}
			damages["a line deleted"](t, filepath.Join(dir, day), "")
		}
	})
}
