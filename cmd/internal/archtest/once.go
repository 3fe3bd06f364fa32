package archtest

import "regexp"

// A Once is a rule of the house that is written in one place: a line elsewhere that decides the same by itself.
type Once struct {
	Line *regexp.Regexp
	In   string // the only package where such a line may stand
	Use  string // what serves instead
}

// Onces are the rules that would drift apart if they stood in several places.
var Onces = []Once{
	{regexp.MustCompile(`[lL]og[A-Z][a-z]+[23]? +(uint16 )?= 0x0`), "fsm/pbs", "the events of fsm/pbs"},
	{regexp.MustCompile(`[eE]xit[A-Z][A-Za-z]+ += -[0-9]`), "fsm/pbs", "the exit statuses of fsm/pbs"},
	{regexp.MustCompile(`^func [a-z]\w*\(ctx context.Context, d time.Duration\) bool \{`), "transport/pause", "pause.For"},
	{regexp.MustCompile(`== 0x7f\b`), "fsm/pbs", "pbs.IsControl"},
	{regexp.MustCompile(`strings\.Cut\([^,]*[hH]ost[^,]*, "\."\)`), "fsm/pbs", "pbs.ShortHost, pbs.SameHost"},
	{regexp.MustCompile(`EqualFold\([^)]*([hH]ost\b|"localhost")`), "fsm/pbs", "pbs.SameHost, pbs.ThisHost"},
	{regexp.MustCompile(`strings\.(Contains|HasPrefix|HasSuffix|Index|Split)\w*\([^"]*\.Comment(Text\(\))?, `), "fsm/state", "the code in Job.Wait"},
}
