package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rampart/cli/lsf"
	"rampart/cli/pbs"
)

// TestManual_Pages: a program that sets manual pages finds nothing wrong in them.
func TestManual_Pages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	for _, p := range slices.Concat(pbs.Pages(), lsf.Pages()) {
		if !strings.HasPrefix(p.Text, ".TH ") || !strings.Contains(p.Text, "\n.SH SYNOPSIS\n") {
			t.Errorf("%s:\n%s", p.File, p.Text)
		}
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tutf8")
		cmd.Stdin = strings.NewReader(p.Text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", p.File, err, out)
		}
	}
}
