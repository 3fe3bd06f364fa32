package build

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "4bff83e0123456789abcdef"}
	for want, info := range map[string]debug.BuildInfo{
		"1.2.3":                         {Main: debug.Module{Version: "v1.2.3"}},
		"0.0.0-dev":                     {Main: debug.Module{Version: "(devel)"}},
		"0.0.0-dev+g4bff83e01234":       {Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision}},
		"0.0.0-dev+g4bff83e01234.dirty": {Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}},
	} {
		if got := of(&info); got != want {
			t.Errorf("%+v: %s, want %s", info, got, want)
		}
	}
}

func TestVersion_IsNeverEmpty(t *testing.T) {
	if Version() == "" {
		t.Error("a build without a version")
	}
}
