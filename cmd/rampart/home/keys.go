package home

import (
	"bytes"
	"fmt"
	"os"
)

// keySize is the length of a key of gossip, in bytes.
const keySize = 32

// ReadKeys reads the keys of gossip, the one that encrypts first.
func ReadKeys(path string) ([][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || len(data)%keySize != 0 {
		return nil, fmt.Errorf("read %s: %d bytes are no keys of %d bytes each", path, len(data), keySize)
	}
	var keys [][]byte
	for ; len(data) > 0; data = data[keySize:] {
		keys = append(keys, data[:keySize])
	}
	return keys, nil
}

// ReplaceKeys writes the keys of gossip, unless the file holds them already.
func ReplaceKeys(path string, keys [][]byte) error {
	data := bytes.Join(keys, nil)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return Replace(path, data)
}
