package mom

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"rampart/mom/spool"
)

// Names of files are bytes: a fact that speaks of one can be sent, or it would be sent for ever.
func TestFact_IsText(t *testing.T) {
	for _, f := range []spool.Fact{
		{Ended: &spool.Ended{Comment: "no caf\xe9"}},
		{Started: &spool.Started{JobDir: "/home/caf\xe9"}},
		{NotCheckpointed: &spool.NotCheckpointed{Reason: "no caf\xe9"}},
	} {
		if _, err := proto.Marshal(fact(f)); err != nil {
			t.Error(err)
		}
	}
}
