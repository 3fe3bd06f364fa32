package server

import (
	"path/filepath"
	"testing"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/home/configtest"
)

func FuzzLoad(f *testing.F) {
	configtest.Fuzz(f, configtest.Kind[Config]{
		Path: home.Home.ServerConfig, Load: Load, Save: Config.save,
		Home: func(c Config) home.Home { return c.Home },
		Sound: func(c Config) bool {
			return c.Address() != "" && c.LogKeepDays >= 0 && (filepath.Base(c.Host) == c.Host || c.Host == ".")
		},
	},
		`{"version":1,"host":"s1","server":"srv","listen":"192.0.2.1:15001","gossip":"192.0.2.1:15003"}`,
		`{"version":1,"host":"s1","server":"srv","listen":"0.0.0.0:1","advertise":"[::]:1","gossip":"[::1]:3"}`,
		`{"log_keep_days":-1}`,
	)
}
