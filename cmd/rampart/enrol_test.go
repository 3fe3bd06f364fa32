package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/mom"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

func TestJoin_TokensThatLetNobodyIn(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		used := s.token("mom", "hostc")
		if err := s.joinMom("hostc", used); err != nil {
			t.Fatal(err)
		}
		short, err := s.root().Cluster().CreateToken(t.Context(), connect.NewRequest(&api.CreateTokenRequest{Role: "mom", TtlSeconds: 5}))
		if err != nil {
			t.Fatal(err)
		}
		expired := short.Msg.GetToken()
		<-time.After(6 * time.Second)
		foreign, err := transport.NewCA(s.identity("s1").Cluster(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		revoked := s.token("mom", "hostd")
		if _, err := s.trust().RevokeToken(t.Context(), connect.NewRequest(&api.RevokeTokenRequest{Token: revoked})); err != nil {
			t.Fatal(err)
		}
		for name, token := range map[string]string{
			"used": used, "expired": expired, "revoked": revoked, "of another host": s.token("mom", "hoste"),
			"of a replica": s.token("replica", ""), "of another cluster": transport.NewToken(foreign, transport.RoleMom).String(),
			"none": "rampart1.mom.x.y",
		} {
			if err := s.joinMom("hostd", token); err == nil {
				t.Errorf("%s: a token that lets in", name)
			}
		}
		// One that failed leaves nothing in the way of one that does not.
		if err := s.joinMom("hostd", s.token("mom", "hostd")); err != nil {
			t.Error(err)
		}
	})
}

func TestJoin_LeavesTightFilesAndAllThatIsNeeded(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		for dir, want := range map[string][]string{
			s.home("s3").ServerTLS():  {"ca.key", "ca.pem", "gossip.key", "leaf.key", "leaf.pem"},
			s.home("hosta").MomTLS():  {"ca.pem", "gossip.key", "leaf.key", "leaf.pem"},
			s.home("login").MomTLS():  {"ca.pem", "leaf.key", "leaf.pem"},
			s.home("hosta").MomPriv(): {"mom.json"},
			s.home("s3").ServerPriv(): {"replica.json"},
			s.home("login").MomPriv(): {"mom.json"},
			s.home("s1").ServerTLS():  {"ca.key", "ca.pem", "gossip.key", "leaf.key", "leaf.pem"},
			s.home("hostb").MomTLS():  {"leaf.key"},
			s.home("s2").ServerTLS():  {"ca.key"},
		} {
			for _, name := range want {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s in %s: %v, %v", name, dir, info, err)
				}
			}
			if info, err := os.Stat(dir); filepath.Base(dir) == "tls" && (err != nil || info.Mode().Perm() != 0o700) {
				t.Errorf("%s: %v, %v", dir, info, err)
			}
		}
		for _, none := range []string{filepath.Join(s.home("hosta").MomTLS(), "ca.key"), filepath.Join(s.home("login").MomTLS(), "gossip.key")} {
			if _, err := os.Stat(none); !os.IsNotExist(err) {
				t.Errorf("%s: %v", none, err)
			}
		}
		for _, name := range []string{"hosta", "login"} { // whoever joined early has heard of the others since
			s.until("list of all replicas on the disk of "+name, time.Minute, func() bool {
				c, err := mom.Load(s.home(name))
				return err == nil && len(c.Replicas) == 3 && len(c.Seeds) == 3
			})
		}
		_ = filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".key" {
				if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v", path, info)
				}
			}
			return err
		})
	})
}

// TestSleep_OverTheEndOfAllCertificates: a site that was dark for longer than certificates
// live elects by the keys in its membership, and everybody renews by the key on record.
func TestSleep_OverTheEndOfAllCertificates(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		for _, name := range s.order {
			s.kill(name)
		}
		<-time.After(8 * 24 * time.Hour)
		for _, name := range s.order {
			if !time.Now().After(s.identity(name).Certificate().NotAfter) {
				t.Fatalf("the certificate of %s is still good", name)
			}
		}
		for _, name := range s.order {
			s.start(name)
		}
		s.until("leader", time.Minute, func() bool { return s.leader() != nil && s.voters() == 3 })
		s.until("moms that are up", time.Minute, func() bool { return s.up("hosta") && s.up("hostb") })
		s.until("fresh certificates", time.Minute, func() bool {
			for _, name := range s.order {
				cert := s.identity(name).Certificate()
				id, ok := s.view().Identity(s.identity(name).KeyHash())
				if time.Until(cert.NotAfter) < 6*24*time.Hour || !ok || int64(id.Expires)/int64(time.Second) != cert.NotAfter.Unix() {
					return false
				}
			}
			return true
		})
		submit := func() error {
			_, err := s.client("login", "ann").Batch().Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{Script: []byte("x\n")}))
			return err
		}
		if err := submit(); err != nil {
			t.Errorf("a person of the login host: %v", err)
		}
	})
}

// TestJoin_TheFirstReplicaIsOnRecordToo, though it never enrolled: or it could not elect with
// an expired certificate, nor be revoked.
func TestJoin_TheFirstReplicaIsOnRecordToo(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		for _, name := range []string{"s1", "s2", "s3"} {
			if id, ok := s.view().Identity(s.identity(name).KeyHash()); !ok || id.Role != "replica" || id.Host != pbs.HostName(name) {
				t.Errorf("%s: %+v", name, id)
			}
		}
	})
}
