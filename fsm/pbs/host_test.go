package pbs

import "testing"

func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"hosta", "hosta", true},
		{"hosta", "HOSTA.example.org", true},
		{"hosta.example.org", "hosta", true},
		{"hosta.example.org", "hosta.other.org", false},
		{"hosta", "hostb", false},
		{"hosta.lan", "hosta.LAN.example.org", true},
		{"hosta", "hostab.example.org", false},
		{"10.0.0.1", "10.0.0.1", true},
		{"10", "10.0.0.1", false},
		{"", "hosta", false},
		{"", "", false},
	} {
		if SameHost(c.a, c.b) != c.same {
			t.Errorf("%q, %q: want %v", c.a, c.b, c.same)
		}
	}
}

func TestShortHost(t *testing.T) {
	for name, want := range map[HostName]string{
		"hosta": "hosta", "hosta.example.org": "hosta", "10.0.0.1": "10.0.0.1", "fe80::1": "fe80::1", "": "",
	} {
		if got := ShortHost(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestThisHost(t *testing.T) {
	for name, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.0.0.2": false, "::1": true,
		"": false, "localhost.example.org": false, "10.0.0.1": false,
	} {
		if ThisHost(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

func TestAnyHost(t *testing.T) {
	names := []string{"hostb", "HOSTA.example.org"}
	if !AnyHost(names, "hosta") || AnyHost(names, "hostc") || AnyHost(nil, "hosta") {
		t.Error("AnyHost does not find by SameHost")
	}
}
