package task

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A site's script tells a job to end: no signal is sent and no grace begins before it has come to its end.
func TestRunner_EndsByScript(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		want   bool
	}{"it ends well": {"0", true}, "it fails": {"3", false}} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := stageSite(t)
			dir := t.TempDir()
			script := filepath.Join(dir, "end")
			text := "#!/bin/sh\necho \"$1 $PBS_JOBID\" > " + dir + "/told\nread line < " + dir + "/pipe\nexit " + c.status + "\n"
			if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			settings := s.Settings()
			settings.Terminate = &ActionScript{Path: script, Args: []string{"%sid"}, Timeout: time.Minute}
			s.Settings = func() Settings { return settings }
			task := in(Ending)
			r := NewRunner(s, task)
			r.mail = make(chan letter, 1)
			ask := func() {
				for _, a := range (mother{task}).terminate() {
					r.perform(t.Context(), a)
				}
			}
			ask()
			ask() // while it runs it is not asked again
			if len(r.alarms) != 0 {
				t.Error("the grace has begun")
			}
			pipe, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			pipe.Close()
			l := <-r.mail
			if ev, ok := l.event.(Terminated); !ok || (ev.Failure == "") != c.want {
				t.Errorf("%+v", l.event)
			}
			if told, err := os.ReadFile(filepath.Join(dir, "told")); err != nil || string(told) != "11 "+string(task.Key.Job)+"\n" {
				t.Errorf("the script was told %q, %v", told, err)
			}
			r.grace(t.Context(), Action{Do: Grace, After: time.Second, Ends: true})
			if len(r.alarms) != 1 {
				t.Error("there is no grace")
			}
			r.wg.Wait()
		})
	}
}
