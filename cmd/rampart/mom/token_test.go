package mom

import (
	"log/slog"
	"os"
	"testing"

	"rampart/cmd/rampart/home"
)

// TestRun_TakesTheTokenAway: jobs and hooks find no token in the environment of their mom.
func TestRun_TakesTheTokenAway(t *testing.T) {
	t.Setenv(home.TokenVariable, "rampart1.mom.x.y")
	config := Default("borg", "127.0.0.1")
	config.Home = home.Home(t.TempDir())
	if err := Run(t.Context(), config, Options{Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Fatal("a mom without an identity runs")
	}
	if _, there := os.LookupEnv(home.TokenVariable); there {
		t.Error("the token stays")
	}
}
