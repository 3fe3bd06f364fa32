package mom

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"rampart/mom/task"
)

// $action names scripts of the site; what is malformed is an error, and what the mom has no
// other way for is passed over (specification: cli-contract section 9).
func TestCheckpoint_Settings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	read := func(line string) (settings, error) {
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return readSettings(path, "", "")
	}
	got, err := read("$action checkpoint_abort 60 !/sbin/save %sid -v\n$action restart 0 !/sbin/restart\n$action checkpoint 30 !/sbin/snap %path\n$action terminate 5 !/sbin/end\n$action multinodebusy 0 requeue")
	want := task.Actions{
		Checkpoint:      &task.ActionScript{Timeout: 30 * time.Second, Path: "/sbin/snap", Args: []string{"%path"}},
		CheckpointAbort: &task.ActionScript{Timeout: time.Minute, Path: "/sbin/save", Args: []string{"%sid", "-v"}},
		Restart:         &task.ActionScript{Path: "/sbin/restart", Args: []string{}},
		Terminate:       &task.ActionScript{Timeout: 5 * time.Second, Path: "/sbin/end", Args: []string{}},
	}
	if err != nil || !reflect.DeepEqual(got.Actions, want) {
		t.Errorf("%+v, %v", got.Actions, err)
	}
	for _, line := range []string{
		"$action", "$action restart", "$action restart 5", "$action restart 5 /sbin/x", "$action restart 5 !x", "$action restart -1 !/x", "$action checkpoint_abort x !/x",
	} {
		if _, err := read(line); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}
