package mom

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// pbsDirectives are the words of a PBS mom's configuration.
var pbsDirectives = strings.Fields(`$action $alps_client $alps_release_timeout $checkpoint_path $clienthost $cputmult $cpuset_create_flags
	$cpuset_destroy_delay $dce_refresh_delta $enforce $ideal_load $job_launch_delay $jobdir_root $kbd_idle $logevent $max_check_poll $max_load
	$max_poll_downtime $memreserved $min_check_poll $pbs_accounting_workload_mgmt $port $prologalarm $reject_root_scripts $report_hook_checksums
	$restrict_user $restrict_user_exceptions $restrict_user_maxsysid $restricted $sister_join_job_alarm $suspendsig $tmpdir $usecp
	$vnodedef_additive $wallmult`)

// The page that a site reads before it moves names each word of a mom's configuration that is passed over, and no others.
func TestDifferences(t *testing.T) {
	text, err := os.ReadFile("../docs/pbs-differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n`mom_priv/config`: what PBS has and this mom passes over.")
	section, _, _ = strings.Cut(section, "\n`pbs.conf`:")
	var named []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for word := range strings.SplitSeq(cells[1], ",") {
				named = append(named, strings.Trim(word, " `"))
			}
		}
	}
	if len(named) == 0 {
		t.Fatal("the page has no such section")
	}
	for _, word := range pbsDirectives {
		if passed := !honored(word); passed != slices.Contains(named, word) {
			t.Errorf("%s is passed over: %v; docs/pbs-differences.md says so: %v", word, passed, !passed)
		}
	}
	for _, word := range named {
		if strings.HasPrefix(word, "$") && !slices.Contains(pbsDirectives, word) {
			t.Errorf("docs/pbs-differences.md names %s, which is no word of a PBS", word)
		}
	}
}

// honored reports whether a directive changes anything, or is refused without a value.
func honored(word string) bool {
	for _, value := range []string{"", "mem", "checkpoint 10 !/bin/true"} {
		var s settings
		if err := s.directive(word + " " + value); err != nil || !reflect.DeepEqual(s, settings{}) {
			return true
		}
	}
	return false
}
