package server

import (
	"log/slog"
	"os"
	"testing"

	"rampart/cmd/rampart/home"
)

// TestRun_TakesTheTokenAway: hooks and mail programs find no token in the environment of their replica.
func TestRun_TakesTheTokenAway(t *testing.T) {
	t.Setenv(home.TokenVariable, "rampart1.replica.x.y")
	config := Default("borg", "127.0.0.1")
	config.Home = home.Home(t.TempDir())
	if err := Run(t.Context(), config, Process{}, slog.New(slog.DiscardHandler)); err == nil {
		t.Fatal("a replica without an identity runs")
	}
	if _, there := os.LookupEnv(home.TokenVariable); there {
		t.Error("the token stays")
	}
}
