package dev

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports that the processes use on their own addresses (design section 3).
const (
	replicaPort       = 15001
	momPort           = 15002
	replicaGossipPort = 15003
	momGossipPort     = 15004
)

// maxProcesses is what the addresses of one block hold.
const maxProcesses = 100

// freeNet returns the first three bytes of a block of loopback addresses in which
// nobody listens, so that several clusters live on one machine with the ports of
// production.
func freeNet(processes int) (string, error) {
	if processes > maxProcesses {
		return "", fmt.Errorf("%d processes: at most %d", processes, maxProcesses)
	}
	var last error
	for range 20 {
		block := "127." + strconv.Itoa(1+rand.IntN(254)) + "." + strconv.Itoa(1+rand.IntN(254))
		if last = free(block+".1", replicaPort); last == nil {
			return block, nil
		}
	}
	return "", errors.Join(errors.New("find loopback addresses for the cluster"), last)
}

func free(host string, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}

func (p plan) listen(name string) string {
	port := momPort
	if p.isReplica(name) {
		port = replicaPort
	}
	return net.JoinHostPort(p.address(name).String(), strconv.Itoa(port))
}

func (p plan) gossip(name string) string {
	port := momGossipPort
	if p.isReplica(name) {
		port = replicaGossipPort
	}
	return net.JoinHostPort(p.address(name).String(), strconv.Itoa(port))
}
