package lsf

import (
	"fmt"
	"strings"
)

// document prints the vocabulary as the tables of docs/lsf.md.
func document() string {
	var b strings.Builder
	words := func(title string, list []Word) {
		fmt.Fprintf(&b, "### %s\n\n| LSF | PBS | note |\n| --- | --- | --- |\n", title)
		for _, w := range list {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", w.LSF, w.PBS, w.Note)
		}
		b.WriteByte('\n')
	}
	words("Terms", Terms)
	words("Resources", Resources)
	b.WriteString("### States\n\n| qstat | bjobs | the job |\n| --- | --- | --- |\n")
	for _, w := range States {
		letter := string(w.Letter)
		if w.Holds != "" {
			letter += ", Hold_Types with one of " + w.Holds
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", letter, w.LSF, w.Means)
	}
	b.WriteString("\n### Pending reasons\n\nThe first row that fits counts; `*` stands for any words. A comment that no row has is shown as it is.\n\n" +
		"| comment of qstat | bjobs -p |\n| --- | --- |\n")
	fmt.Fprintf(&b, "| (none yet) | `%s` |\n| (held by its owner) | `%s` |\n| (held by an operator) | `%s` |\n| (held for a dependency) | `%s` |\n| (before Execution_Time) | `%s` |\n| (`lsf_unready`: no cycle yet since `badmin reconfig`) | `%s` |\n",
		ReasonNew, ReasonUser, ReasonAdmin, ReasonDepend, ReasonTime, ReasonUnready)
	for _, w := range Reasons {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", w.Pattern, strings.ReplaceAll(w.LSF, "%s", "*"))
	}
	return b.String()
}
