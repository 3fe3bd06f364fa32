package resource

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseTime reads [[H:]M:]S[.ms] and returns seconds, rounded to the nearest. Each
// part may be of any size: 90:00 is an hour and a half.
func parseTime(text string) (int64, bool) {
	text, fraction, dotted := strings.Cut(text, ".")
	var total int64
	parts := 0
	for part := range strings.SplitSeq(text, ":") {
		n, ok := parseDigits(part)
		parts++
		if !ok || parts > 3 || total > (math.MaxInt64-n)/60 {
			return 0, false
		}
		total = total*60 + n
	}
	if !dotted {
		return total, true
	}
	if _, ok := parseDigits(fraction); !ok || len(fraction) > 9 || total == math.MaxInt64 {
		return 0, false
	}
	if fraction[0] >= '5' {
		total++
	}
	return total, true
}

func parseDigits(s string) (int64, bool) {
	if s == "" || !isDigit(s[0]) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// formatTime prints HH:MM:SS; the hours may have more digits than two.
func formatTime(n int64) string {
	return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
}
