package dropin

import "testing"

// TestServerName: PBS_SERVER names the server where PBS_SERVER_HOST_NAME says that it is on this host.
func TestServerName(t *testing.T) {
	same := "as before"
	for _, c := range []struct{ server, host, want string }{
		{"big", "localhost", "big"},
		{"big", "", ""},
		{"", "localhost", ""},
		{"node1", "localhost", ""},
		{"bad name", "localhost", ""},
		{"big", "first.invalid", same},
		{"big", "localhost,first.invalid", same},
	} {
		t.Setenv("PBS_LEAF_NAME", "node1")
		t.Setenv("PBS_SERVER", c.server)
		t.Setenv("PBS_SERVER_HOST_NAME", c.host)
		got, err := (&call{world: World{Address: func() string { return "127.0.0.1" }}}).serverName(t.Context())
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if got != nil && *got != c.want || got == nil && c.want != same {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
