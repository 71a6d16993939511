package clean

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lake/filelist"
	"github.com/lakesweep/lakesweep/lock"
	"github.com/lakesweep/lakesweep/lock/dynamodb"
	"github.com/lakesweep/lakesweep/lock/file"
	"github.com/lakesweep/lakesweep/lock/storage"
	"github.com/lakesweep/lakesweep/lock/zookeeper"
	"github.com/lakesweep/lakesweep/table/hudi"
	"github.com/lakesweep/lakesweep/table/hudi/timeline"
)

// lock returns the lock provider that Hudi's keys name, as the table's
// other writers have it.
//
// Errors: Locked without a usable one, unless the user vouches that nobody
// else writes; Invalid for a key that can't be read.
// Source: spec/hudi-clean.md section 6.5.
func (host *Host) lock(ctx context.Context, h *filelist.Head, s file.Store) (lock.Provider, error) {
	keys := timeline.Properties{}
	if text := h.State[stateLock]; text != "" {
		if err := json.Unmarshal([]byte(text), &keys); err != nil {
			return nil, &lake.Error{Op: "take lock", Table: h.Table, Kind: lake.Damaged, Err: err, Hint: "Make the plan again."}
		}
	}
	name := keys[lockPrefix+"provider"]
	owner := h.PlanID + " " + rand.Text()
	switch class := name[strings.LastIndexByte(name, '.')+1:]; {
	case class == "FileSystemBasedLockProvider":
		return host.fileLock(h, keys, owner, s)
	case class == "StorageBasedLockProvider":
		if t := s.Traits(); !t.PutIfAbsent || !t.IfMatch {
			return nil, noLock(h, "this store has no conditional writes, which "+class+" takes")
		}
		return storage.New(s, storage.Options{Owner: owner, Now: host.Places.Now}), nil
	case class == "ZookeeperBasedLockProvider":
		return zookeeperLock(h, keys)
	case class == "DynamoDBBasedLockProvider":
		return host.dynamoLock(ctx, h, keys, owner)
	case h.State[stateVouch] == "true":
		return lock.None{}, nil
	case name == "":
		return nil, noLock(h, "no lock provider is known")
	default:
		return nil, noLock(h, "the lock provider "+name+" can't be shared with this process")
	}
}

func (host *Host) fileLock(h *filelist.Head, keys timeline.Properties, owner string, s file.Store) (lock.Provider, error) {
	o := file.Options{Dir: hudi.Dir, Owner: owner, Now: host.Places.Now}
	if path := keys[lockPrefix+"filesystem.path"]; path != "" {
		root, err := lake.ParseRoot(h.Table)
		if err != nil {
			return nil, err
		}
		place, err := lake.ParsePlace(path)
		if err != nil {
			return nil, err
		}
		dir := lake.Key(strings.TrimPrefix(strings.TrimPrefix(place.Path, root.Path), "/"))
		if !root.Contains(place) || dir != hudi.Dir && !dir.Below(hudi.Dir) {
			return nil, noLock(h, "the lock's folder "+path+" lies outside the table's .hoodie")
		}
		o.Dir = string(dir)
	}
	if text := keys[lockPrefix+"filesystem.expire"]; text != "" {
		minutes, err := strconv.Atoi(text)
		if err != nil || minutes < 0 {
			return nil, &lake.Error{Op: "take lock", Table: h.Table, Kind: lake.Invalid, Err: fmt.Errorf("%sfilesystem.expire=%s is no number of minutes", lockPrefix, text)}
		}
		o.Expire = time.Duration(minutes) * time.Minute
	}
	return file.New(s, o), nil
}

func zookeeperLock(h *filelist.Head, keys timeline.Properties) (lock.Provider, error) {
	key := func(name string) string { return keys[lockPrefix+"zookeeper."+name] }
	var servers []string
	for server := range strings.SplitSeq(key("url"), ",") {
		if server = strings.TrimSpace(server); server != "" && !strings.Contains(server, ":") && key("port") != "" {
			server += ":" + key("port")
		}
		if server != "" {
			servers = append(servers, server)
		}
	}
	base, name := key("base_path"), key("lock_key")
	if name == "" {
		name = tableName(h)
	}
	if len(servers) == 0 || base == "" {
		return nil, noLock(h, "the lock settings name no ZooKeeper url or base_path")
	}
	return zookeeper.New(zookeeper.Options{Servers: servers, Path: strings.TrimRight(base, "/") + "/" + name}), nil
}

func (host *Host) dynamoLock(ctx context.Context, h *filelist.Head, keys timeline.Properties, owner string) (lock.Provider, error) {
	key := func(name string) string { return keys[lockPrefix+"dynamodb."+name] }
	o := dynamodb.Options{Table: key("table"), Key: key("partition_key"), Region: key("region"), Endpoint: key("endpoint_url"), Owner: owner, Now: host.Places.Now}
	if o.Key == "" {
		o.Key = tableName(h)
	}
	if o.Table == "" {
		return nil, noLock(h, "the lock settings name no DynamoDB table")
	}
	return dynamodb.Open(ctx, o)
}

// tableName is hoodie.table.name, what lock keys are by default.
func tableName(h *filelist.Head) string {
	_, table, _ := strings.Cut(h.TableID, ".")
	name, _, _ := strings.Cut(table, "#")
	return name
}

func noLock(h *filelist.Head, why string) error {
	return &lake.Error{Op: "take lock", Table: h.Table, Kind: lake.Locked, Code: "no_lock", Err: errors.New(why),
		Hint: "Give the writers' own lock settings (hoodie.write.lock.provider and what belongs to it) with --config when planning, or say --no-other-writers if no job writes to the table meanwhile."}
}
