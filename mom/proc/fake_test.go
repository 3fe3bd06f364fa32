package proc

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A stopped program uses no cpu time.
func TestFake_StoppedProgramsDoNotWork(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := NewFake(func(Spec) Program { return Program{Runs: time.Minute, CPU: 0.5} })
		h, err := f.Start(t.Context(), dir, Spec{Version: specVersion})
		if err != nil {
			t.Fatal(err)
		}
		used := func(wall, cpu time.Duration) {
			t.Helper()
			all, err := f.Usage(h)
			if err != nil || all[0].Wall != wall || all[0].CPU != cpu {
				t.Errorf("usage %+v, %v, want %s of cpu time in %s", all[0], err, cpu, wall)
			}
		}
		signal := func(s syscall.Signal) {
			if err := f.Signal(h, s); err != nil {
				t.Error(err)
			}
		}
		<-time.After(20 * time.Second)
		signal(syscall.SIGSTOP)
		<-time.After(100 * time.Second)
		used(120*time.Second, 10*time.Second)
		signal(syscall.SIGCONT)
		<-time.After(10 * time.Second)
		used(130*time.Second, 15*time.Second)
		exit, err := f.Wait(t.Context(), dir, h)
		if err != nil || exit.Wall != 160*time.Second || exit.CPU != 30*time.Second {
			t.Errorf("exit %+v, %v", exit, err)
		}
	})
}
