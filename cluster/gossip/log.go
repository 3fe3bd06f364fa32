package gossip

import (
	"bytes"
	"context"
	"log/slog"
)

// logWriter turns memberlist's lines, "[WARN] memberlist: text", into records.
type logWriter struct{ logger *slog.Logger }

var levels = []struct {
	prefix string
	level  slog.Level
}{
	{"[ERR] ", slog.LevelError},
	{"[ERROR] ", slog.LevelError},
	{"[WARN] ", slog.LevelWarn},
	{"[INFO] ", slog.LevelInfo},
	{"[DEBUG] ", slog.LevelDebug},
}

// Write logs one line.
func (w logWriter) Write(line []byte) (int, error) {
	text, level := bytes.TrimRight(line, "\n"), slog.LevelInfo
	for _, l := range levels {
		if rest, ok := bytes.CutPrefix(text, []byte(l.prefix)); ok {
			text, level = rest, l.level
			break
		}
	}
	w.logger.Log(context.Background(), level, string(text))
	return len(line), nil
}
