package pbs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cli"
	"rampart/fsm/pbs"
)

// refusedLine is a command line, in words separated by blanks with quotes as in a shell, and what the command answers on
// standard error: "usage" stands for the usage, an arrow for what the server was asked before.
type refusedLine struct {
	line   string
	status int
	told   string
}

// refusedLines are the tables of errors (specification: advance-reservations sections 3 to 6).
var refusedLines = []refusedLine{
	{"pbs_rsub", 2, "usage"},
	{"pbs_rsub -R 1200 -D 60 --hosts=hostb", 2, "usage"},
	{"pbs_rsub --nosuch", 2, "usage"},
	{"pbs_rsub -A acct -R 1200 -D 60", 2, "pbs_rsub: invalid option -- 'A'|usage"},
	{"pbs_rsub -I", 2, "pbs_rsub: option requires an argument -- 'I'|usage"},
	{"pbs_rsub -R xx -D 60", 2, "pbs_rsub: illegal -R time value|usage"},
	{"pbs_rsub -R 1 -D 60", 2, "pbs_rsub: illegal -R time value|usage"},
	{"pbs_rsub -R '' -D 60", 2, "pbs_rsub: illegal -R time value|usage"},
	{"pbs_rsub -R 1200 -E 2500", 2, "pbs_rsub: illegal -E time value|usage"},
	{"pbs_rsub -R 1200 -D 60 -I x", 2, "pbs_rsub: illegal -I time value|usage"},
	{"pbs_rsub -R 1200 -D 60 -I ''", 2, "pbs_rsub: illegal -I time value|usage"},
	{"pbs_rsub -R 1200 -D 60 -I 99999999999", 2, "pbs_rsub: illegal -I time value|usage"},
	{"pbs_rsub -R 1200 -D 60 -N 'a b'", 2, "pbs_rsub: illegal -N value|usage"},
	{"pbs_rsub -R 1200 -D 60 -N ''", 2, "pbs_rsub: illegal -N value|usage"},
	{"pbs_rsub -R 1200 -D 60 -U 'no such'", 2, "pbs_rsub: illegal -U value|usage"},
	{"pbs_rsub -R 1200 -D 60 -U ''", 2, "pbs_rsub: illegal -U value|usage"},
	{"pbs_rsub -R 1200 -D 60 -G 'a b'", 2, "pbs_rsub: illegal -G value|usage"},
	{"pbs_rsub -R 1200 -D 60 -G ''", 2, "pbs_rsub: illegal -G value|usage"},
	{"pbs_rsub -R 1200 -D 60 -H ''", 2, "pbs_rsub: illegal -H value|usage"},
	{"pbs_rsub -R 1200 -D 60 -u ''", 2, "pbs_rsub: illegal -u value|usage"},
	{"pbs_rsub -R 1200 -D 60 -g @h", 2, "pbs_rsub: illegal -g value|usage"},
	{"pbs_rsub -R 1200 -D 60 -m x", 2, "pbs_rsub: illegal -m value|usage"},
	{"pbs_rsub -R 1200 -D 60 -M -x", 2, "pbs_rsub: illegal -M value|usage"},
	{"pbs_rsub -R 1200 -D 60 -W bad", 2, "pbs_rsub: illegal -W value|usage"},
	{"pbs_rsub -R 1200 -D 60 -W qmove=", 2, "pbs_rsub: illegal -W value|usage"},
	{"pbs_rsub -R 1200 -D 60 -W 1=2", 2, "pbs_rsub: illegal -W value|usage"},
	{"pbs_rsub -R 1200 -D 60 -l ''", 2, "pbs_rsub: illegal -l value|usage"},
	{"pbs_rsub -R 1200 -D 60 -l =1", 2, "pbs_rsub: illegal -l value|usage"},
	{"pbs_rsub -R 1200 -D 60 -l ncpus", 166, "pbs_rsub: Illegal attribute or resource value Resource_List.ncpus"},
	{"pbs_rsub -R 1200 -D 60 -l select=", 166, "pbs_rsub: Illegal attribute or resource value Resource_List.select"},
	{"pbs_rsub -R 1200 -D ''", 166, "pbs_rsub: Illegal attribute or resource value Resource_List.walltime"},
	{"pbs_rsub -q srv -R 1200 -D 60", 2, `pbs_rsub: illegal -q value: format "@server"|usage`},
	{"pbs_rsub -q @ -R 1200 -D 60", 2, `pbs_rsub: illegal -q value: format "@server"|usage`},
	{"pbs_rsub -R 1200 -r " + strings.Repeat("x", 67), 2, "pbs_rsub: illegal -r value (expression too long)|usage"},
	{"pbs_rsub -R 202611231144.42 -D 60 -l ncpus=1 stray", 2, "pbs_rsub: directive error: -R 202611231144.42 -D 60 -l ncpus=1 stray |usage"},
	{"pbs_rsub stray", 2, "pbs_rsub: directive error: stray |usage"},
	{"pbs_rsub -R xx -I x -N ''", 2, "pbs_rsub: illegal -R time value|pbs_rsub: illegal -I time value|pbs_rsub: illegal -N value|usage"},
	{"pbs_rsub --hosts", 2, "pbs_rsub: missing host(s)|usage"},
	{"pbs_rsub --hosts -R 1200 -D 60", 2, "pbs_rsub: missing host(s)|usage"},
	{"pbs_rsub -R 1200 -D 60 --hosts hostb hostc hostb hostc", 2, "pbs_rsub: Duplicate host: hostb|usage"},
	{"pbs_rsub --hosts hostb -I 5", 2, "pbs_rsub: can't use -I with --hosts|usage"},
	{"pbs_rsub -l ncpus=1 --hosts hostb", 2, "pbs_rsub: can't use -l with --hosts|usage"},
	{"pbs_rsub --job 1 -R 1200", 2, "pbs_rsub: Start/End time cannot be used with --job option|usage"},
	{"pbs_rsub -E 1200 --job 1", 2, "pbs_rsub: Start/End time cannot be used with --job option|usage"},
	{"pbs_rsub --job", 2, "usage"},
	{"pbs_rsub --job -I 5", 2, "usage"},
	{"pbs_rsub --job=5", 2, "usage"},
	{"pbs_rsub --job 1 --hosts hostb", 2, "usage"},
	{"pbs_rsub --job 1 -W qmove=2", 2, "usage"},
	{"pbs_rsub --hosts hostb -W qmove=2", 2, "usage"},
	{"pbs_rsub --job x", 1, "pbs_rsub: illegally formed job identifier: x"},
	{"pbs_rsub -W qmove=x", 1, "pbs_rsub: illegally formed job identifier: x"},
	{"pbs_rsub -Wqmove=1 -R 1200", 2, "pbs_rsub: -Wqmove is not compatible with -R or -E option|usage"},
	{"pbs_rsub -Wqmove=1 -E 1200", 2, "pbs_rsub: -Wqmove is not compatible with -R or -E option|usage"},
	{"pbs_rsub -Wqmove=1 -I 5", 2, "pbs_rsub: -I <timeout> value must be negative when used with -Wqmove option."},
	{"pbs_rsub -Wqmove=999999 -I 0", 2, "pbs_rsub: -I <timeout> value must be negative when used with -Wqmove option."},
	{"pbs_rsub -Wqmove=999999", 2, "Job 999999.hosta does not exist"},
	{"pbs_rsub -Wqmove=999999@hosta", 2, "Job 999999.hosta does not exist"},
	{"pbs_rsub -Wqmove=5.hosta", 2, "Job 5.hosta does not exist"},
	{"pbs_rsub -Wqmove=140.hosta", 2, "Job not in qmove state"},
	{"pbs_rsub -R 1200 -D 60 -N " + strings.Repeat("n", 231), 2, "pbs_rsub: Reservation name is too long "},
	{"pbs_rsub -R 1200 -D 60 -N 'a " + strings.Repeat("n", 231) + "'", 2, "pbs_rsub: illegal -N value|usage"},
	{"pbs_rsub -R 1200 -D 60 --hosts hostb nosuch", 2, "pbs_rsub: Host with resources not found: nosuch"},
	{"pbs_rsub -R 1200 -D 60 --hosts hosta store", 2, "pbs_rsub: Host with resources not found: store"}, // it has no cpus
	{"pbs_rsub -R 1200 -D 60 -r FREQ=DAILY", 2, "pbs_rsub error: a valid PBS_TZID timezone environment variable is required."},
	{"PBS_TZID= pbs_rsub -R 1200 -D 60 -r FREQ=DAILY", 2, "pbs_rsub error: a valid PBS_TZID timezone environment variable is required."},
	{"PBS_TZID=UTC pbs_rsub -R 1200 -D 60 -r ''", 29, "pbs_rsub: Undefined iCalendar syntax"},
	{"pbs_rsub -q @nosuch -R 1200 -D 60", 160, "Unknown Host.|pbs_rsub: cannot connect to server nosuch (errno=15008)"},
	{"pbs_rsub -q @nosuch -Wqmove=1", 160, "Unknown Host.|pbs_rsub: cannot connect to server nosuch (errno=15008)"},
	{"pbs_rsub --job 1@nosuch", 160, "Unknown Host.|pbs_rsub: cannot connect to server nosuch (errno=15008)"},
	{"PBS_DEFAULT=silent pbs_rsub -R 1200 -D 60", 162, "Connection refused|pbs_rsub: cannot connect to server silent (errno=15010)"},
	{"PBS_DEFAULT=nowhere pbs_rsub -R 1200 -D 60", 162, "Connection refused|pbs_rsub: cannot connect to server nowhere (errno=15010)"},
	{"PBS_DEFAULT=nowhere pbs_rsub -Wqmove=1", 162, "Connection refused|pbs_rsub: cannot connect to server nowhere (errno=15010)"},
	{"PBS_DEFAULT=silent pbs_rsub --hosts hostb", 162, "Connection refused|pbs_rsub: cannot connect to server silent (errno=15010)"},

	{"pbs_rstat R99999", 0, "pbs_rstat: Unknown Reservation Id"},
	{"pbs_rstat xyz", 1, "pbs_rstat: illegally formed reservation identifier: xyz"},
	{"pbs_rstat 5", 1, "pbs_rstat: illegally formed reservation identifier: 5"},
	{"pbs_rstat R5[1]", 1, "pbs_rstat: illegally formed reservation identifier: R5[1]"},
	{"pbs_rstat xyz R99999", 1, "pbs_rstat: illegally formed reservation identifier: xyz|pbs_rstat: Unknown Reservation Id"},
	{"pbs_rstat -Z", 1, "pbs_rstat: invalid option -- 'Z'|usage"},
	{"pbs_rstat R99999@nosuch", 160, "Unknown Host.|pbs_rstat: cannot connect to server (errno=15008)"},
	{"PBS_DEFAULT=silent pbs_rstat", 162, "Connection refused|pbs_rstat: cannot connect to server (errno=15010)"},
	{"PBS_DEFAULT=nowhere pbs_rstat -f R1", 162, "Connection refused|pbs_rstat: cannot connect to server (errno=15010)"},

	{"pbs_rdel", 2, "usage"},
	{"pbs_rdel -Z R1", 2, "pbs_rdel: invalid option -- 'Z'|usage"},
	{"pbs_rdel -W force R1", 2, "pbs_rdel: invalid option -- 'W'|usage"},
	{"pbs_rdel -q '' R1", 2, "pbs_rdel: illegal -q value|usage"},
	{"pbs_rdel xyz", 1, "pbs_rdel: illegally formed reservation identifier: xyz"},
	{"pbs_rdel R99999", 236, "> DeleteReservation R99999|pbs_rdel: Unknown Reservation Id R99999.hosta"},
	{"pbs_rdel S10.hosta", 159, "> DeleteReservation S10.hosta|pbs_rdel: Unauthorized Request  S10.hosta"},
	{"pbs_rdel R10 xyz R1", 1, "> DeleteReservation R10|> DeleteReservation R1|pbs_rdel: Unauthorized Request  R10.hosta|pbs_rdel: illegally formed reservation identifier: xyz"},
	{"pbs_rdel R16 R1", 101, "> DeleteReservation R16|pbs_rdel: no quorum: the replicas cannot commit now"},
	{"pbs_rdel -q nosuch R1 R2@hosta", 160, "> DeleteReservation R2|pbs_rdel: cannot connect to server nosuch (errno=15008)"},
	{"PBS_DEFAULT=nowhere pbs_rdel R1 R2", 111, "pbs_rdel: cannot connect to server nowhere (errno=111)"},

	{"pbs_ralter", 2, "usage"},
	{"pbs_ralter -D 60", 2, "usage"},
	{"pbs_ralter -D 60 R1 R2", 2, "usage"},
	{"pbs_ralter -Z R1", 2, "pbs_ralter: invalid option -- 'Z'|usage"},
	{"pbs_ralter -R xx R1", 2, "pbs_ralter: illegal -R time value|usage"},
	{"pbs_ralter -E xx R1", 2, "pbs_ralter: illegal -E time value|usage"},
	{"pbs_ralter -I x R1", 2, "pbs_ralter: illegal -I time value|usage"},
	{"pbs_ralter -I 0 R1", 2, "pbs_ralter: illegal -I time value|usage"},
	{"pbs_ralter -I -5 -D 60 R1", 2, "pbs_ralter: illegal -I time value|usage"},
	{"pbs_ralter -D xx R1", 2, "pbs_ralter: illegal -D value|usage"},
	{"pbs_ralter -D -5 R1", 2, "pbs_ralter: illegal -D value|usage"},
	{"pbs_ralter -N 'a b' R1", 2, "pbs_ralter: illegal -N value|usage"},
	{"pbs_ralter -U '' R1", 2, "pbs_ralter: illegal -U value|usage"},
	{"pbs_ralter -m q R1", 2, "pbs_ralter: illegal -m value|usage"},
	{"pbs_ralter -W delete_idle_time=100 R1", 2, "pbs_ralter: illegal -W value|usage"},
	{"pbs_ralter -W force -W x -D 5 R1", 2, "pbs_ralter: illegal -W value|usage"},
	{"pbs_ralter -W force R1", 2, "pbs_ralter: No support for requested service|usage"},
	{"pbs_ralter -W force -N xx R1", 2, "pbs_ralter: No support for requested service|usage"},
	{"pbs_ralter -W force -l select=1 R1", 2, "pbs_ralter: No support for requested service|usage"},
	{"pbs_ralter -l ncpus=2 R1", 2, "pbs_ralter -l only allows for select|usage"},
	{"pbs_ralter -l select=1:ncpus=1,walltime=5 R1", 2, "pbs_ralter -l only allows for select|usage"},
	{"pbs_ralter -l select R1", 2, "pbs_ralter -l only allows for select|usage"},
	{"pbs_ralter -l '' R1", 2, "pbs_ralter: illegal -l value|usage"},
	{"pbs_ralter -N " + strings.Repeat("n", 231) + " R1", 2, "pbs_ralter: Reservation name is too long "},
	{"pbs_ralter xyz", 2, "pbs_ralter: illegally formed reservation identifier: xyz"},
	{"pbs_ralter -D 60 R99999", 236, "> AlterReservation R99999|pbs_ralter: Unknown Reservation Id"},
	{"pbs_ralter -D 60 R10", 159, "> AlterReservation R10|pbs_ralter: Unauthorized Request "},
	{"pbs_ralter -D 60 R1@nosuch", 160, "pbs_ralter: cannot connect to server nosuch (errno=15008)"},
	{"PBS_DEFAULT=nowhere pbs_ralter -D 60 R1", 111, "pbs_ralter: cannot connect to server nowhere (errno=111)"},
}

func TestReservations_Refused(t *testing.T) {
	for _, r := range refusedLines {
		if got, want := answerTo(t, r.line), fmt.Sprintf("%s|exit %d", r.told, r.status); got != want {
			t.Errorf("%s\n got %s\nwant %s", r.line, got, want)
		}
	}
}

// answerTo plays a command line, and returns what was asked and told on one line.
func answerTo(t *testing.T, line string) string {
	t.Helper()
	text := play(t, line)
	for _, c := range reservations() {
		text = strings.Replace(text, "2> "+strings.Join(strings.SplitAfter(strings.TrimSuffix(c.Usage, "\n"), "\n"), "2> ")+"\n", "usage\n", 1)
	}
	var words []string
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if asked, ok := strings.CutPrefix(l, "-> "); ok {
			parts := strings.SplitN(asked, " ", 3)
			id, _, _ := strings.Cut(strings.TrimPrefix(parts[2], `{"reservation":"`), `"`)
			l = "> " + parts[1] + " " + id
		}
		l = strings.TrimPrefix(l, "2> ")
		words = append(words, l)
	}
	words[len(words)-1] = "exit " + strings.Trim(strings.TrimPrefix(words[len(words)-1], "[exit status "), "]")
	return strings.Join(words, "|")
}

// What the server refuses is told with PBS's words and number (specification: advance-reservations section 7).
func TestReservations_RefusedByTheServer(t *testing.T) {
	for _, c := range []struct {
		code   pbs.Code
		status int
		text   string
	}{
		{15002, 154, "Undefined attribute "},
		{15007, 159, "Unauthorized Request "},
		{15001, 153, "Unknown Job Id"},
		{15084, 236, "Unknown Reservation Id"},
		{15086, 238, "Bad time specification(s)"},
		{15092, 244, "Host machine not authorized to submit reservations"},
		{15093, 245, "Requestor's group not authorized to submit reservations"},
		{15094, 246, "Requestor not authorized to make reservations"},
		{15126, 22, "YEARLY recurrence duration cannot exceed 1 year"},
		{15127, 23, "MONTHLY recurrence duration cannot exceed 1 month"},
		{15128, 24, "WEEKLY recurrence duration cannot exceed 1 week"},
		{15129, 25, "DAILY recurrence duration cannot exceed 24 hours"},
		{15130, 26, "HOURLY recurrence duration cannot exceed 1 hour"},
		{15131, 27, "MINUTELY recurrence duration cannot exceed 1 minute"},
		{15132, 28, "SECONDLY recurrence duration cannot exceed 1 second"},
		{15133, 29, "Undefined iCalendar syntax"},
		{15134, 30, "Undefined iCalendar syntax. A valid COUNT or UNTIL is required"},
		{15135, 31, "Unrecognized PBS_TZID environment variable"},
		{15156, 52, "job and reservation have conflicting specification Resource_List.place"},
		{15164, 60, `"min_walltime" and "max_walltime" are not valid resources for a reservation`},
		{15178, 74, "Reservation not empty"},
		{15179, 75, "Requested time(s) will interfere with a later occurrence"},
		{15181, 77, "Reservation may not be created from a job already within a reservation"},
		{15182, 78, "Reservation may not be created from an array job"},
		{15183, 79, "New select must be made up of a subset of the original chunks"},
	} {
		for _, command := range []string{"pbs_rsub -R 1200 -D 60 -N %d", "pbs_ralter -D 60 R%d"} {
			got := answerTo(t, fmt.Sprintf(command, c.code))
			name, _, _ := strings.Cut(command, " ")
			if want := fmt.Sprintf("|%s: %s|exit %d", name, c.text, c.status); !strings.HasSuffix(got, want) {
				t.Errorf(command+"\n got %s\nwant %s", c.code, got, want)
			}
		}
	}
}

// Whatever -R and -E are, each is refused or a moment, and without a day in -R the end is not before the start unless it
// is that by more than a day.
func FuzzReservationTimes(f *testing.F) {
	f.Add("0900", "0800")
	f.Add("0900.30", "202611210800")
	f.Add("310900", "1")
	f.Fuzz(func(t *testing.T, start, end string) {
		b := &booking{request: request{env: fuzzEnv()}}
		opts := optionsOfWords("-R", start, "-E", end)
		b.times(opts)
		from, ok1 := moment(b.env, start)
		until, ok2 := moment(b.env, end)
		for _, c := range []struct {
			ok    bool
			fault string
		}{{ok1 && from >= 0, "illegal -R time value"}, {ok2 && until >= 0, "illegal -E time value"}} {
			if slices.Contains(b.faults, c.fault) == c.ok {
				t.Errorf("-R %q -E %q: %v", start, end, b.faults)
			}
		}
		if len(b.faults) > 0 {
			return
		}
		want := until
		if clock, _, _ := strings.Cut(start, "."); len(clock) == 4 && until < from {
			want = until + 24*60*60 // fuzzEnv is in UTC
		}
		if b.value("reserve_start") != fmt.Sprint(from) || b.value("reserve_end") != fmt.Sprint(want) {
			t.Errorf("-R %q -E %q, from %s: %v", start, end, time.Unix(from, 0).UTC(), b.changes)
		}
	})
}

// What -l and -W of pbs_rsub say is either refused or a list of named values.
func FuzzReservationValues(f *testing.F) {
	f.Add("select=2:ncpus=1+1:mem=2gb,walltime=01:00:00", "qmove=5,delete_idle_time=5")
	f.Add("ncpus,=", "qmove")
	f.Fuzz(func(t *testing.T, l, w string) {
		r := &reserving{booking: booking{request: request{env: fuzzEnv()}}}
		if r.amounts(l) {
			for _, a := range r.changes {
				if a.Name != "Resource_List" || !isWord(a.Resource) {
					t.Errorf("-l %q: %v", l, a)
				}
			}
		}
		r.changes = nil
		if r.extended(w) && len(r.changes) == 0 && r.qmove == "" {
			t.Errorf("-W %q says nothing", w)
		}
		for _, a := range r.changes {
			if !isWord(a.Name) || a.Value == "" || a.Name == "qmove" && a.Resource == "" {
				t.Errorf("-W %q: %v", w, a)
			}
		}
	})
}

func optionsOfWords(args ...string) *cli.Options { return cli.OptionsOf(own("R:E:").Parse(args)) }
