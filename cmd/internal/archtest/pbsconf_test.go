package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pbsConfKeys are the keys that a PBS reads from pbs.conf.
var pbsConfKeys = strings.Fields(`PBS_AUTH_METHOD PBS_BATCH_SERVICE_PORT PBS_COMM_LOG_EVENTS PBS_COMM_ROUTERS PBS_COMM_THREADS PBS_CORE_LIMIT PBS_CP
	PBS_DAEMON_SERVICE_USER PBS_DATA_SERVICE_HOST PBS_DATA_SERVICE_PORT PBS_ENCRYPT_METHOD PBS_ENVIRONMENT PBS_EXEC PBS_HOME
	PBS_INTERACTIVE_AUTH_METHOD PBS_INTERACTIVE_ENCRYPT_METHOD PBS_LEAF_NAME PBS_LEAF_ROUTERS PBS_LOCALLOG PBS_LOG_HIGHRES_TIMESTAMP
	PBS_MAIL_HOST_NAME PBS_MANAGER_SERVICE_PORT PBS_MOM_HOME PBS_MOM_NODE_NAME PBS_MOM_SERVICE_PORT PBS_OUTPUT_HOST_NAME PBS_PRIMARY PBS_RCP
	PBS_REMOTE_VIEWER PBS_SCHED_THREADS PBS_SCHEDULER_SERVICE_PORT PBS_SCP PBS_SECONDARY PBS_SERVER PBS_SERVER_HOST_NAME PBS_START_COMM
	PBS_START_MOM PBS_START_SCHED PBS_START_SERVER PBS_SUPPORTED_AUTH_METHODS PBS_SYSLOG PBS_SYSLOGSEVR PBS_TMPDIR`)

// Each key of pbs.conf is read by a program or by the scripts of the package, or docs/pbs-differences.md says that it is left alone.
func TestPbsConf_ReadOrExplained(t *testing.T) {
	const root = "../../.."
	read := map[string]bool{}
	for _, dir := range []string{"cli", "cluster", "cmd", "mom", "packaging", "transport"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
				return err
			}
			text, err := os.ReadFile(path)
			note(read, string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/pbs-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained, idle := map[string]bool{}, map[string]bool{}
	note(explained, string(text))
	_, table, _ := strings.Cut(string(text), "\n`pbs.conf`: keys that are left alone.")
	table, _, _ = strings.Cut(table, "\n`sched_config`:")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			note(idle, cells[1])
		}
	}
	for _, key := range pbsConfKeys {
		if !read[key] && !explained[key] {
			t.Errorf("nothing reads %s, and docs/pbs-differences.md does not say why", key)
		}
		if read[key] && idle[key] {
			t.Errorf("docs/pbs-differences.md says that nothing reads %s", key)
		}
	}
}

// note adds all words of a text that may be keys.
func note(keys map[string]bool, text string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') }) {
		if strings.HasPrefix(word, "PBS_") {
			keys[word] = true
		}
	}
}
