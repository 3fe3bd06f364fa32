package mom

import (
	"strings"
	"testing"

	"rampart/transport/api"
)

// TestRequests: an order is in the log once by PBS's number of the request, and again if it is refused.
func TestRequests(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		run := w.run("1.srv", "#!/bin/sh\n")
		signal := w.next("9.srv", 1)
		signal.What = &api.Order_Signal{Signal: &api.SignalJob{Signal: "SIGUSR1"}}
		w.deliver(run, signal)
		w.deliver(run, signal)
		for line, want := range map[string]int{
			";0100;pbs_mom;Req;;Type 1 request received from root@": 1, ";0100;pbs_mom;Req;;Type 18 request received from root@": 1,
			";0080;pbs_mom;Req;req_reject;Reject reply code=15001, aux=0, type=18, from root@": 1, "Reject reply": 1,
		} {
			if got := strings.Count(w.log(), line); got != want {
				t.Errorf("%q is there %d times, want %d: %s", line, got, want, w.log())
			}
		}
	})
}
