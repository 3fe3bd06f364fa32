package mom

import (
	"path/filepath"
	"testing"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/home/configtest"
)

func FuzzLoad(f *testing.F) {
	configtest.Fuzz(f, configtest.Kind[Config]{
		Path: home.Home.MomConfig, Load: Load, Save: Config.save,
		Home:  func(c Config) home.Home { return c.Home },
		Sound: func(c Config) bool { return len(c.Replicas) > 0 && (filepath.Base(c.Host) == c.Host || c.Host == ".") },
	},
		`{"version":1,"host":"h1","replicas":["s1:15001"],"listen":"192.0.2.1:15002","gossip":"192.0.2.1:15003"}`,
		`{"version":1,"host":"h1","replicas":["[::1]:1"],"listen":"0.0.0.0:1","advertise":"h1:1","gossip":"[::1]:3","submit_only":true}`,
		`{"replicas":[null]}`,
	)
}
