package transport

import (
	"strings"
	"testing"
)

func TestToken_RoundTrip(t *testing.T) {
	ca := testCA(t)
	token := NewToken(ca, RoleMom)
	back, err := ParseToken(" " + token.String() + "\n")
	if err != nil || back != token {
		t.Fatalf("%+v, %v; want %+v", back, err, token)
	}
	if other := NewToken(ca, RoleMom); other == token || other.Hash() == token.Hash() {
		t.Error("two tokens are the same")
	}
	if strings.Contains(token.String(), token.Hash()) {
		t.Error("the hash is in the text")
	}
}

func TestParseToken_Refuses(t *testing.T) {
	good := NewToken(testCA(t), RoleMom).String()
	for _, text := range []string{
		"", ".", "...", "rampart1...", good + ".", good[1:], good[:len(good)-1], good + "A",
		strings.Replace(good, ".mom.", ".root.", 1), strings.Replace(good, ".mom.", "..", 1),
		strings.Replace(good, "rampart1", "rampart2", 1), good[:20] + "\n" + good[20:], strings.Repeat("a", 10_000),
	} {
		if token, err := ParseToken(text); err == nil {
			t.Errorf("%q was read as %+v", text, token)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(NewToken(testCA(f), RoleReplica).String())
	f.Add("rampart1.mom.AAAA.BBBB")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err == nil && token.String() != strings.TrimSpace(text) {
			t.Errorf("%q has a second spelling %q", text, token)
		}
	})
}

func FuzzDecodeCaller(f *testing.F) {
	f.Add(encodeCaller(Caller{User: userJoe, Role: RoleMom, Host: "hosta", Key: "k", Vouched: true}))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := decodeCaller(text)
		if err != nil {
			return
		}
		if again, err := decodeCaller(encodeCaller(c)); err != nil || again != c {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}

func TestToken_For(t *testing.T) {
	mom := Token{Role: RoleMom}
	if err := mom.For(RoleMom, RoleSubmit); err != nil {
		t.Error(err)
	}
	if err := mom.For(RoleReplica); err == nil || !strings.Contains(err.Error(), "mom") {
		t.Errorf("a mom's token for a replica: %v", err)
	}
}
