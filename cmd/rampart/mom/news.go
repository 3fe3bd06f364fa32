package mom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

const (
	// newsEvery is how often this daemon asks what has changed of the cluster: for so long
	// it may still talk to a replica that was revoked.
	newsEvery = 10 * time.Second
	// newsSoon is how often it asks in the first newsEvery: a daemon that was enrolled when the
	// cluster was made knows one replica, and must know the others before that one dies.
	newsSoon  = time.Second
	newsLimit = 5 * time.Second
)

// keepUp asks for the news of the cluster, at once and then now and again: where the replicas
// are, which keys gossip has, which replicas are not to be believed any more, and which users
// are forgotten.
func (d *daemon) keepUp(ctx context.Context) error {
	every := time.NewTicker(newsSoon)
	defer every.Stop()
	known := d.config
	for n := 0; ; n++ {
		if n == int(newsEvery/newsSoon) {
			every.Reset(newsEvery)
		}
		if err := d.hear(ctx, &known); err != nil && ctx.Err() == nil {
			d.options.Logger.Debug("no news of the cluster", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
	}
}

func (d *daemon) hear(ctx context.Context, known *Config) error {
	ctx, cancel := context.WithTimeout(ctx, newsLimit)
	defer cancel()
	reply, err := d.asker.Trust().News(ctx, connect.NewRequest(&api.NewsRequest{Address: d.filesAddress()}))
	if err != nil {
		return err
	}
	d.shun(reply.Msg.GetRevokedReplicas())
	if d.accounts != nil {
		d.accounts.forget(reply.Msg.GetForgotten())
	}
	return errors.Join(d.turnRoots(reply.Msg), d.holdGossipKeys(reply.Msg), d.keepReplicas(known, reply.Msg.GetReplicas()))
}

// shun cuts off the replicas whose keys were revoked.
func (d *daemon) shun(keys []string) {
	if old := d.shunned.Load(); old != nil && slices.Equal(*old, keys) || old == nil && len(keys) == 0 {
		return
	}
	d.shunned.Store(&keys)
	d.identity.Recheck()
}

// check is transport.Identity.Check.
func (d *daemon) check(role transport.Role, host pbs.HostName, key string) error {
	if keys := d.shunned.Load(); keys != nil && slices.Contains(*keys, key) {
		return fmt.Errorf("the certificate of %s %s was revoked", role, host)
	}
	return nil
}

// turnRoots trusts the CAs that the cluster has now, and has the leaf renewed when another
// one signs.
func (d *daemon) turnRoots(news *api.NewsReply) error {
	if bundle := bytes.Join(news.GetRoots(), nil); len(bundle) > 0 && !bytes.Equal(bundle, d.identity.Roots()) {
		if err := d.identity.Trust(bundle); err != nil {
			return err
		}
		if err := d.files.SaveRoots(bundle); err != nil {
			return err
		}
	}
	signer := news.GetSigner()
	d.signer.Store(&signer)
	return nil
}

// stale reports whether another CA signs for this daemon than that which signed its leaf.
func (d *daemon) stale() bool {
	signer := d.signer.Load()
	return signer != nil && *signer != "" && *signer != d.identity.SignedBy()
}

// holdGossipKeys takes the keys over, and writes them down before others hear of it.
func (d *daemon) holdGossipKeys(news *api.NewsReply) error {
	if d.gossip == nil || len(news.GetGossipKeys()) == 0 {
		return nil
	}
	if err := home.ReplaceKeys(d.config.gossipKeyPath(), news.GetGossipKeys()); err != nil {
		return err
	}
	return d.gossip.Hold(news.GetGossipGeneration(), news.GetGossipKeys())
}

// keepReplicas notes where the replicas are, for this process and for the next one.
func (d *daemon) keepReplicas(known *Config, all []*api.Replica) error {
	var addresses, seeds []string
	for _, r := range all {
		if r.GetAddress() != "" {
			addresses = append(addresses, r.GetAddress())
		}
		if r.GetGossipAddress() != "" {
			seeds = append(seeds, r.GetGossipAddress())
		}
	}
	if len(addresses) == 0 || slices.Equal(addresses, known.Replicas) && slices.Equal(seeds, known.Seeds) {
		return nil
	}
	d.seeds.Store(&seeds)
	d.asker.Replicas().Set(addresses)
	known.Replicas, known.Seeds = addresses, seeds
	return known.save()
}
