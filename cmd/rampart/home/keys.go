package home

import (
	"bytes"
	"fmt"
	"os"
)

// keySize is the length of a key of gossip, in bytes.
const keySize = 32

// ReadKeys reads the keys of gossip, the one that encrypts first, from a file that nobody
// else may read.
func ReadKeys(path string) ([][]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read %s: it may be read by others (mode %04o); make it 0600", path, info.Mode().Perm())
	}
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
