package server

import (
	"strings"
	"testing"

	"rampart/cmd/rampart/home"
)

func TestConfig_ValidateNamesEveryFlag(t *testing.T) {
	c := Config{Listen: "nonsense", Gossip: "0.0.0.0:1", Zone: "a b", RTTClass: "moon", LogKeepDays: -1}
	err := c.Validate()
	for _, flag := range []string{"--host", "--name", "--home", "--listen", "--gossip", "--zone", "--rtt-class", "version", "log_keep_days"} {
		if err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v does not name %s", err, flag)
		}
	}
}

func TestConfig_DefaultIsValid(t *testing.T) {
	c := Default("hosta.example.org", "192.0.2.1")
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Host != "hosta" || c.Server != "hosta" || c.Address() != "192.0.2.1:15001" {
		t.Errorf("%+v", c)
	}
	c.Listen = "0.0.0.0:15001"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "--advertise") {
		t.Errorf("an address that others cannot use: %v", err)
	}
}

func TestConfig_SaveAndLoad(t *testing.T) {
	c := Default("hosta", "192.0.2.1")
	c.Home = home.Home(t.TempDir())
	if err := c.Home.Make(c.Home.ServerPriv()); err != nil {
		t.Fatal(err)
	}
	if err := c.save(); err != nil {
		t.Fatal(err)
	}
	got, err := Load(c.Home)
	if err != nil || got.Host != c.Host || got.Gossip != c.Gossip {
		t.Errorf("%+v, %v", got, err)
	}
	if err := home.Replace(c.Home.ServerConfig(), []byte(`{"version":1,"nosuch":2}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(c.Home); err == nil || !strings.Contains(err.Error(), "nosuch") || strings.Contains(err.Error(), "no replica in") {
		t.Errorf("an unknown key: %v", err)
	}
}
