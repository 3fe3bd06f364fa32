package render

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"
)

func BenchmarkLong(b *testing.B) {
	text, err := os.ReadFile("testdata/qstat-f-finished.txt")
	if err != nil {
		b.Fatal(err)
	}
	_, objects := unfold(string(text))
	w := bufio.NewWriter(io.Discard)
	for b.Loop() {
		Long(w, "Job Id: 5.hosta", objects[0], false, time.UTC)
	}
}

func BenchmarkJobTable(b *testing.B) {
	table := NewJobTable(bufio.NewWriter(io.Discard), false)
	row := job("123456.hosta", "name", "00:00:01", "R")
	for b.Loop() {
		table.Row(row)
	}
}
