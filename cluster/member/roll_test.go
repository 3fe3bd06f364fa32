package member

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// What keeps a leader from looking after the members is said when it is new, and once a minute.
func TestRoll_News(t *testing.T) {
	k, now, said := NewRoll(), time.Unix(1000, 0), 0
	for i := range 240 { // two minutes
		for _, err := range []error{errors.New("no quorum without s3"), fmt.Errorf("s%d is silent", i/100)} {
			if k.News(err, now.Add(time.Duration(i)*500*time.Millisecond)) {
				said++
			}
		}
	}
	if said != 2+3 {
		t.Errorf("said %d times", said)
	}
	if len(k.said) > 3 {
		t.Errorf("%d words are remembered", len(k.said))
	}
}
