package lsf

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/lsf"
)

// defaultFormat is what is shown where nothing is said.
const defaultFormat = "jobid user stat queue from_host exec_host job_name submit_time"

// A field is a column of bjobs -o.
type field struct {
	name  string
	alias string
	width int
	of    func(v *jobsView, j job) string
}

// fields are all fields of bjobs -o, with LSF's widths.
var fields = slices.Concat(ownFields, moreFields, unusedFields())

var ownFields = []field{
	{"jobid", "id", 7, func(_ *jobsView, j job) string { id, _, _ := strings.Cut(j.id, "["); return id }},
	{"jobindex", "", 8, func(_ *jobsView, j job) string { return j.get("array_index") }},
	{"stat", "", 5, func(_ *jobsView, j job) string { return j.state }},
	{"user", "", 7, func(_ *jobsView, j job) string { return j.user }},
	{"queue", "", 10, func(_ *jobsView, j job) string { return j.get("queue") }},
	{"job_name", "name", 10, func(_ *jobsView, j job) string { return j.name() }},
	{"proj_name", "proj", 11, func(_ *jobsView, j job) string { return projectOf(j) }},
	{"command", "cmd", 15, func(_ *jobsView, j job) string { return j.command() }},
	{"from_host", "", 11, func(_ *jobsView, j job) string { return j.get("Submit_Host") }},
	{"first_host", "", 11, func(_ *jobsView, j job) string {
		if hosts := j.shares(); len(hosts) > 0 {
			return hosts[0].host
		}
		return ""
	}},
	{"exec_host", "", 11, func(_ *jobsView, j job) string { return shown(j.shares(), ":") }},
	{"nexec_host", "", 10, func(_ *jobsView, j job) string { return countOr(len(j.shares())) }},
	{"nreq_slot", "", 10, func(_ *jobsView, j job) string { return strconv.Itoa(j.slots()) }},
	{"nalloc_slot", "", 11, func(_ *jobsView, j job) string {
		n := 0
		for _, s := range j.shares() {
			n += s.slots
		}
		return countOr(n)
	}},
	{"alloc_slot", "", 20, func(_ *jobsView, j job) string { return counted(j.shares(), ":") }},
	{"submit_time", "", 15, func(v *jobsView, j job) string { return shortTime(j.moment("ctime", v.env.Zone)) }},
	{"start_time", "", 15, func(v *jobsView, j job) string { return shortTime(j.moment("stime", v.env.Zone)) }},
	{"finish_time", "", 16, func(v *jobsView, j job) string { return v.finishTime(j) }},
	{"run_time", "", 15, func(v *jobsView, j job) string {
		if j.get("stime") == "" {
			return v.seconds(0, "%d second(s)")
		}
		return v.seconds(secondsOf(amount(j.Object, "resources_used", "walltime")), "%d second(s)")
	}},
	{"cpu_used", "", 10, func(v *jobsView, j job) string {
		return v.seconds(secondsOf(amount(j.Object, "resources_used", "cput")), "%d.0 second(s)")
	}},
	{"mem", "", 10, func(_ *jobsView, j job) string { return shownMemory(amount(j.Object, "resources_used", "mem")) }},
	{"memlimit", "", 10, func(_ *jobsView, j job) string { return shownMemory(amount(j.Object, "Resource_List", "pmem")) }},
	{"runtimelimit", "rtl", 12, func(v *jobsView, j job) string {
		if n := j.runLimit(); n > 0 {
			if v.hms {
				return v.seconds(n, "")
			}
			return fmt.Sprintf("%.1f", float64(n)/60)
		}
		return ""
	}},
	{"exit_code", "", 10, func(_ *jobsView, j job) string {
		if j.state != lsf.Exited {
			return ""
		}
		return j.get("Exit_status")
	}},
	{"priority", "prio", 8, func(_ *jobsView, j job) string { return j.get("Priority") }},
	{"dependency", "", 15, func(_ *jobsView, j job) string { return dependShown(j.get("depend")) }},
	{"output_file", "", 10, func(_ *jobsView, j job) string { return filePath(j.get("Output_Path")) }},
	{"error_file", "", 10, func(_ *jobsView, j job) string { return filePath(j.get("Error_Path")) }},
	{"pend_reason", "", 11, func(v *jobsView, j job) string {
		if !j.pending() {
			return ""
		}
		return strings.Join(v.pendingReasons(j), " ")
	}},
	{"combined_resreq", "cresreq", 20, func(v *jobsView, j job) string { return v.site.site.combined(j.merged()) }},
	{"estimated_start_time", "estart_time", 20, func(v *jobsView, j job) string {
		at, kind := estimatedStart(j), " L"
		if at == 0 || !j.pending() {
			return ""
		}
		if len(futureShares(j)) > 0 {
			kind = " E"
		}
		return shortTime(time.Unix(at, 0).In(v.env.Zone)) + kind
	}},
	{"alloc_future", "", 20, func(_ *jobsView, j job) string {
		if !j.pending() {
			return ""
		}
		return counted(futureShares(j), ":")
	}},
	{"reserved_slots", "", 20, func(_ *jobsView, j job) string {
		var all []share
		for _, k := range j.kept() {
			all = append(all, k.share)
		}
		return counted(all, ":")
	}},
	{"reserved_mem", "", 20, func(_ *jobsView, j job) string {
		var words []string
		for _, k := range j.kept() {
			if k.mem > 0 {
				words = append(words, fmt.Sprintf("%dM*%s", k.mem, k.host))
			}
		}
		return strings.Join(words, ":")
	}},
}

// seconds shows a time: with -hms as hours, minutes and seconds.
func (v *jobsView) seconds(n int64, format string) string {
	if v.hms {
		return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf(format, n)
}

func (v *jobsView) finishTime(j job) string {
	if !j.finished() {
		return ""
	}
	return shortTime(v.finishedAt(j))
}

// finishedAt returns when a job that is over has ended.
func (v *jobsView) finishedAt(j job) time.Time {
	at := j.moment("obittime", v.env.Zone)
	if at.IsZero() {
		at = j.moment("mtime", v.env.Zone)
	}
	return at
}

func countOr(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// shortTime returns how columns show a moment.
func shortTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("Jan _2 15:04")
}

func shownMemory(text string) string {
	m, ok := megabytes(text)
	if !ok {
		return ""
	}
	return strconv.FormatInt(m, 10) + " Mbytes"
}

// A column is a field as it was asked for.
type column struct {
	field
	right bool
}

// A format is what bjobs -o has said.
type format struct {
	columns   []column
	delimiter string
	records   []map[string]string
}

// parseFormat reads "field[:[-]width] ... [delimiter='character']".
func parseFormat(text string) (*format, error) {
	known := make([]knownColumn, len(fields))
	for i, x := range fields {
		known[i] = knownColumn{x.name, x.alias, x.width}
	}
	columns, delimiter, err := askedColumns("bjobs", text, known)
	if err != nil {
		return nil, err
	}
	f := &format{delimiter: delimiter}
	for _, asked := range columns {
		c := column{field: fields[slices.IndexFunc(fields, func(x field) bool { return x.name == asked.name })], right: asked.right}
		c.width = asked.width
		f.columns = append(f.columns, c)
	}
	return f, nil
}

func (f *format) wants(name string) bool {
	return slices.ContainsFunc(f.columns, func(c column) bool { return c.name == name })
}

func (f *format) begin(v *jobsView) {
	if v.json || !v.header {
		return
	}
	words := make([]string, len(f.columns))
	for i, c := range f.columns {
		words[i] = strings.ToUpper(c.name)
	}
	f.write(v, words)
}

func (f *format) row(v *jobsView, j job) {
	words := make([]string, len(f.columns))
	record := map[string]string{}
	for i, c := range f.columns {
		words[i] = c.of(v, j)
		record[strings.ToUpper(c.name)] = words[i]
		if words[i] == "" {
			words[i] = "-"
		}
	}
	if v.json {
		f.records = append(f.records, record)
		return
	}
	f.write(v, words)
}

// write prints a row: in columns, of which a value that is too long keeps its end behind a star, or
// with the delimiter between values that are whole.
func (f *format) write(v *jobsView, words []string) {
	if f.delimiter != "" {
		v.out.WriteString(strings.Join(words, f.delimiter) + "\n")
		return
	}
	for i, c := range f.columns {
		if i > 0 {
			v.out.WriteByte(' ')
		}
		word := tail(words[i], c.width)
		if c.right {
			fmt.Fprintf(v.out, "%*s", c.width, word)
		} else {
			fmt.Fprintf(v.out, "%-*s", c.width, word)
		}
	}
	v.out.WriteByte('\n')
}

// end writes the document of -json.
func (f *format) end(v *jobsView) {
	if !v.json {
		return
	}
	fmt.Fprintf(v.out, "{\n  \"COMMAND\":\"bjobs\",\n  \"JOBS\":%d,\n  \"RECORDS\":[", len(f.records))
	for i, r := range f.records {
		if i > 0 {
			v.out.WriteByte(',')
		}
		v.out.WriteString("\n    {")
		for k, c := range f.columns {
			if k > 0 {
				v.out.WriteByte(',')
			}
			name := strings.ToUpper(c.name)
			text, _ := json.Marshal(r[name]) // a string can always be written
			fmt.Fprintf(v.out, "\n      %q:%s", name, text)
		}
		v.out.WriteString("\n    }")
	}
	v.out.WriteString("\n  ]\n}\n")
}
