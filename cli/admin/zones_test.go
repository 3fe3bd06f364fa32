package admin

import (
	"strings"
	"testing"
)

func TestStatus_ShowsZonesWhenThereAreAny(t *testing.T) {
	s := three("degraded")
	s.Replicas[0].Zone, s.Replicas[1].Zone = "a", "west"
	s.Advice = []string{"zone a holds too much"}
	var table, json strings.Builder
	if err := statusTable(&table, s); err != nil {
		t.Fatal(err)
	}
	const want = `REPLICA  ZONE  ROLE         TERM  COMMIT  APPLIED  LAG  CONTACT  WRITE P99  ADDRESS   VERSION  BUILD  HEALTH
s1       a     leader       3     38      38       0    -        2.1ms      h1:15001  1.2      -      ok
s2       west  follower     3     37      36       2    21ms     -          h2:15001  1.2      -      degraded
s3       -     unreachable  -     -       -        -    -        -          h3:15001  -        -      unreachable
`
	if !strings.HasPrefix(table.String(), want) || !strings.Contains(table.String(), "\nadvice: zone a holds too much\n") {
		t.Errorf("table:\n%s", table.String())
	}
	if err := statusJSON(&json, s); err != nil || !strings.Contains(json.String(), `"zone": "west"`) || !strings.Contains(json.String(), `"zone a holds too much"`) {
		t.Errorf("%s, %v", json.String(), err)
	}
}
