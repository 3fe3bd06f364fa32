package mom

import "testing"

// A definition file may say that a vnode shares the amount of another one.
func TestDefinitions_Shared(t *testing.T) {
	for _, c := range []struct {
		line string
		ok   bool
	}{
		{"hosta[0]: resources_available.mem = @hosta", true},
		{"hosta[0]: resources_available.mem = @", false},
		{"hosta[0]: resources_available.mem = @hosta[0]", false},
		{"hosta[0]: resources_available.mem = hosta", false},
	} {
		if _, err := parseDefinition(definitionHeader + "\n" + c.line); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.line, err)
		}
	}
}
