package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/cli"
	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
)

// badOption is a value of an option that means nothing, and what was expected.
func badOption(letter, value, expected string) error {
	return rejected(fmt.Sprintf("-%s %s: expected %s", letter, value, expected))
}

// options reads all options. Of several values of one the last counts, but for -R.
func (s *submission) options(ctx context.Context, opts *cli.Options) error {
	for _, name := range slices.Sorted(maps.Keys(noOptions)) {
		if opts.Has(name) {
			return refusedOption(name, noOptions[name])
		}
	}
	if err := refuseOptions(opts, "outdir", "Jd"); err != nil {
		return err
	}
	for _, read := range []func(context.Context, *cli.Options) error{s.amounts, s.belonging, s.naming, s.files, s.conditions, s.switches} {
		if err := read(ctx, opts); err != nil {
			return err
		}
	}
	return nil
}

// amounts reads what the job wants.
func (s *submission) amounts(_ context.Context, opts *cli.Options) error {
	if opts.Has("n") {
		text := opts.Last("n")
		least, most, ranged := strings.Cut(text, ",")
		n, err := strconv.Atoi(strings.TrimSpace(least))
		m := n
		if ranged && err == nil {
			m, err = strconv.Atoi(strings.TrimSpace(most))
		}
		if err != nil || n < 1 || m < n {
			return badOption("n", text, "a number of slots, 1 or more, or min,max")
		}
		s.set("Resource_List", "ncpus", strconv.Itoa(n))
		if m > n {
			s.set(lsf.JobSlots, "", fmt.Sprintf("%d,%d", n, m))
		}
	}
	for _, text := range opts.All("R") {
		if strings.TrimSpace(text) == "" {
			return badOption("R", "''", "a resource requirement")
		}
		s.require = append(s.require, strings.TrimSpace(text))
	}
	for _, l := range [...]struct{ option, resource string }{{"W", "walltime"}, {"c", "cput"}, {"We", "soft_walltime"}} {
		if !opts.Has(l.option) {
			continue
		}
		text := opts.Last(l.option)
		if limit, host, named := strings.Cut(text, "/"); named && l.option == "W" {
			if text = limit; host == "" || strings.ContainsAny(host, "/ ") {
				return badOption(l.option, opts.Last(l.option), "[hour:]minute[/host_name | /host_model]")
			}
			s.set(lsf.JobReference, "", host)
		}
		seconds, err := runLimit(l.option, text)
		if err != nil {
			return err
		}
		s.set("Resource_List", l.resource, strconv.FormatInt(seconds, 10))
	}
	if opts.Has("M") {
		kilobytes, err := s.memory(opts.Last("M"))
		if err != nil {
			return err
		}
		s.set("Resource_List", "pmem", strconv.FormatInt(kilobytes, 10)+"kb")
	}
	if opts.Has("m") {
		hosts := strings.Fields(opts.Last("m"))
		if len(hosts) == 0 || strings.ContainsAny(opts.Last("m"), "!,@") {
			return rejected("option -m takes hosts and host groups here, with +N for those preferred and ~ for those excluded: the first host is that of -R \"order[...]\"")
		}
		s.set("Resource_List", "host", strings.Join(hosts, ","))
	}
	if opts.Has("x") {
		s.set("Resource_List", "place", "exclhost")
	}
	return nil
}

// runLimit reads [hour:]minute of an option.
func runLimit(option, text string) (seconds int64, err error) {
	if strings.Contains(text, "/") {
		return 0, rejected("option -" + option + " with a host is not supported: run limits alone are scaled by the speed of hosts")
	}
	hours, minutes, both := strings.Cut(text, ":")
	if !both {
		hours, minutes = "0", text
	}
	h, err1 := strconv.ParseInt(hours, 10, 32)
	m, err2 := strconv.ParseFloat(minutes, 64)
	if err1 != nil || err2 != nil || h < 0 || !(m >= 0 && m <= 1<<30) || both && m >= 60 || h == 0 && m <= 0 {
		return 0, badOption(option, text, "[hour:]minute, more than 0")
	}
	return h*3600 + int64(m*60+0.5), nil
}

// units are the units of memory, in kilobytes.
var units = map[string]float64{"K": 1, "KB": 1, "M": 1 << 10, "MB": 1 << 10, "G": 1 << 20, "GB": 1 << 20, "T": 1 << 30, "TB": 1 << 30}

// memory reads a limit. A number alone is in the unit that LSF_UNIT_FOR_LIMITS of lsf.conf says, as
// with LSF, which is KB without it.
func (s *submission) memory(text string) (kilobytes int64, err error) {
	digits := strings.TrimRight(text, "KMGTBkmgtb")
	unit := strings.ToUpper(text[len(digits):])
	if unit == "" {
		unit = s.limitUnit()
	}
	n, err := strconv.ParseFloat(digits, 64)
	factor, known := units[unit]
	if err != nil || !known || !(n > 0) || n*factor < 1 || n*factor > 1<<50 {
		return 0, badOption("M", text, "an amount of memory with K, M, G or T")
	}
	return int64(n * factor), nil
}

func (s *submission) limitUnit() string {
	dir := cmp.Or(s.env.Getenv("LSF_ENVDIR"), "/etc")
	f, err := s.env.Open(filepath.Join(dir, "lsf.conf"))
	if err != nil {
		return "KB"
	}
	defer f.Close()
	unit := "KB"
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if ok && strings.TrimSpace(name) == "LSF_UNIT_FOR_LIMITS" {
			unit = strings.ToUpper(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return unit
}

// belonging reads to what the job belongs.
func (s *submission) belonging(_ context.Context, opts *cli.Options) error {
	if opts.Has("q") {
		s.queue = strings.TrimSpace(opts.Last("q"))
		if s.queue == "" || strings.ContainsAny(s.queue, " @") {
			return badOption("q", opts.Last("q"), "the name of one queue")
		}
	}
	if opts.Has("U") {
		id := strings.TrimSpace(opts.Last("U"))
		if s.queue != "" || !pbs.NamesReservation(id) {
			return badOption("U", opts.Last("U"), "the number of a reservation of pbs_rsub, as in R17, without -q")
		}
		s.queue, _, _ = strings.Cut(id, ".")
	}
	if opts.Has("P") {
		s.set("project", "", opts.Last("P"))
	}
	if opts.Has("app") {
		s.set("lsf_app", "", strings.TrimSpace(opts.Last("app")))
	}
	if opts.Has("sp") {
		n, err := strconv.Atoi(opts.Last("sp"))
		if err != nil || n < 1 || n > 1023 {
			return badOption("sp", opts.Last("sp"), "a priority from 1 to 1023")
		}
		s.set("Priority", "", strconv.Itoa(n))
	}
	if opts.Has("L") {
		s.set("Shell_Path_List", "", opts.Last("L"))
	}
	return nil
}

// naming reads what the job is called, and whether it is an array.
func (s *submission) naming(_ context.Context, opts *cli.Options) error {
	if !opts.Has("J") {
		return nil
	}
	name, limit, limited := cutLimit(opts.Last("J"))
	if i := strings.IndexByte(name, '['); i >= 0 {
		if err := s.array(name[i:]); err != nil {
			return err
		}
		name = name[:i]
		if limited {
			if err := s.atATime(opts.Last("J"), limit); err != nil {
				return err
			}
		}
	}
	if name == "" {
		return nil
	}
	s.named = true
	return s.called(name)
}

// called gives the job its name.
func (s *submission) called(name string) error {
	def, _ := attr.Lookup(attr.Job, "Job_Name")
	if _, err := def.Parse(name); err != nil {
		return badOption("J", name, fmt.Sprintf("a name of at most %d letters, digits and the signs - _ . +", attr.MaxJobName))
	}
	s.set("Job_Name", "", name)
	return nil
}

// atATime limits how many jobs of an array run at a time.
func (s *submission) atATime(text, limit string) error {
	if n, err := strconv.Atoi(limit); err != nil || n < 1 {
		return badOption("J", text, "a number of jobs that run at a time behind %, 1 or more")
	}
	s.set("max_run_subjobs", "", limit)
	return nil
}

// cutLimit cuts %N off the name of an array.
func cutLimit(text string) (name, limit string, limited bool) {
	if i := strings.LastIndexByte(text, '%'); i >= 0 && strings.HasSuffix(text[:i], "]") {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// array reads [first-last:step, ...].
func (s *submission) array(text string) error {
	_, set, ok := cutIndices(text)
	if !ok || len(set) == 0 || len(set) > pbs.MaxRanges {
		return badOption("J", text, fmt.Sprintf("indices as in [1-10] or [1-3,7,10-20:2], from 1 on, and no more than %d ranges", pbs.MaxRanges))
	}
	s.set("array_indices_submitted", "", set.String())
	return nil
}

// files reads where input comes from and output goes.
func (s *submission) files(_ context.Context, opts *cli.Options) error {
	out, both := opts.Last("o"), opts.Has("o")
	if opts.Has("oo") {
		out, both = opts.Last("oo"), true
	}
	e, apart := opts.Last("e"), opts.Has("e")
	if opts.Has("eo") {
		e, apart = opts.Last("eo"), true
	}
	if both {
		path, err := s.outputPath("o", out)
		if err != nil {
			return err
		}
		s.set("Output_Path", "", path)
	}
	if apart {
		path, err := s.outputPath("e", e)
		if err != nil {
			return err
		}
		s.set("Error_Path", "", path)
	}
	if opts.Has("i") {
		if opts.Last("i") == "" || strings.ContainsAny(opts.Last("i"), "%\n") {
			return badOption("i", opts.Last("i"), "the path of a file, without %J and %I")
		}
		s.input = opts.Last("i")
	}
	return nil
}

// outputPath makes a path absolute, and puts in the job's number for %J and the index for %I.
func (s *submission) outputPath(letter, text string) (string, error) {
	if text == "" || strings.ContainsAny(text, "\n\x00") {
		return "", badOption(letter, text, "the path of a file")
	}
	index := "0"
	if s.has("array_indices_submitted", "") {
		index = "^array_index^"
	}
	text = strings.NewReplacer("%J", "^job_number^", "%I", index, "%%", "%").Replace(text)
	if !filepath.IsAbs(text) {
		text = filepath.Join(s.folder(), text)
	}
	return text, nil
}

// folder returns where the command runs.
func (s *submission) folder() string {
	d, err := s.env.Getwd()
	if err != nil {
		return "/"
	}
	return d
}

// conditions reads what the job waits for.
func (s *submission) conditions(ctx context.Context, opts *cli.Options) error {
	if opts.Has("b") {
		begin, err := beginTime(opts.Last("b"), s.env.Now())
		if err != nil {
			return err
		}
		s.set("Execution_Time", "", strconv.FormatInt(begin.Unix(), 10))
	}
	if !opts.Has("w") {
		return nil
	}
	depend, err := s.depend(ctx, opts.Last("w"))
	if err != nil {
		return err
	}
	s.set("depend", "", depend)
	return nil
}

// beginTime reads [[[year:]month:]day:]hour:minute: the next such time from now on, or, where the year is said, that very one.
func beginTime(text string, now time.Time) (time.Time, error) {
	bad := badOption("b", text, "[[[year:]month:]day:]hour:minute")
	var n []int
	for part := range strings.SplitSeq(text, ":") {
		v, err := strconv.Atoi(part)
		if err != nil || v < 0 {
			return time.Time{}, bad
		}
		n = append(n, v)
	}
	said := len(n)
	if said < 2 || said > 5 {
		return time.Time{}, bad
	}
	n = append([]int{now.Year(), int(now.Month()), now.Day()}[:5-said:5-said], n...)
	for range 48 { // months without a day 31, and years without a 29th of February, are passed over
		at := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], 0, 0, now.Location())
		real := at.Year() == n[0] && int(at.Month()) == n[1] && at.Day() == n[2] && n[3] < 24 && n[4] < 60
		switch {
		case real && (said == 5 || at.After(now)):
			return at, nil
		case said == 2:
			now := time.Date(n[0], time.Month(n[1]), n[2]+1, 0, 0, 0, 0, now.Location())
			n[0], n[1], n[2] = now.Year(), int(now.Month()), now.Day()
		case said == 3:
			if n[1]++; n[1] > 12 {
				n[0], n[1] = n[0]+1, 1
			}
		case said == 4:
			n[0]++
		default:
			return time.Time{}, bad
		}
	}
	return time.Time{}, bad
}

// switches reads the rest.
func (s *submission) switches(_ context.Context, opts *cli.Options) error {
	s.wait = opts.Has("K")
	s.graphic = opts.Has("IX") || opts.Has("XF")
	if slices.ContainsFunc([]string{"I", "Ip", "Is", "IS", "ISp", "ISs", "IX"}, opts.Has) {
		s.set("interactive", "", "True")
	}
	s.terminal = slices.ContainsFunc([]string{"Ip", "Is", "ISp", "ISs"}, opts.Has)
	if opts.Has("H") {
		s.set("Hold_Types", "", "u")
	}
	switch {
	case opts.Has("rn"):
		s.set("Rerunable", "", "False")
	case opts.Has("r"):
		s.set("Rerunable", "", "True")
	}
	mails := ""
	if opts.Has("B") {
		mails += "b"
	}
	if opts.Has("N") {
		mails += "e"
	}
	if mails != "" {
		s.set("Mail_Points", "", mails)
	}
	if opts.Has("u") {
		s.set("Mail_Users", "", opts.Last("u"))
	}
	if opts.Has("cwd") {
		dir := opts.Last("cwd")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.folder(), dir)
		}
		s.cwd = dir
	}
	if opts.Has("env") {
		text := opts.Last("env")
		s.exported = &text
	}
	return nil
}
