// Package dynamodb is the lock of Hudi's DynamoDBBasedLockProvider, which is
// Amazon's DynamoDB lock client: one item with the holder's name, the length
// of its lease and a record version number that each heartbeat changes.
//
// An item whose version number doesn't change for its lease's length is dead
// and may be written over. Every write is conditional on what was read.
//
// Source: awslabs/amazon-dynamodb-lock-client; Hudi 1.2.0,
// DynamoDBBasedLockProvider; spec/hudi-clean.md 6.5.
package dynamodb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
)

// Options of a lock.
type Options struct {
	Table    string        // hoodie.write.lock.dynamodb.table
	Key      string        // hoodie.write.lock.dynamodb.partition_key
	Region   string        // "" as the environment says
	Endpoint string        // "" for Amazon's
	Owner    string        // unique to this process
	Lease    time.Duration // 0: 60 s
	Now      func() time.Time
	Wait     lock.Wait
}

// Provider takes the lock.
type Provider struct {
	o Options
	c *dynamodb.Client
}

// Open loads the credentials that the environment gives and returns the
// provider of a table. It sends no request.
func Open(ctx context.Context, o Options) (*Provider, error) {
	var load []func(*config.LoadOptions) error
	if o.Region != "" {
		load = append(load, config.WithRegion(o.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, err
	}
	if o.Lease <= 0 {
		o.Lease = time.Minute
	}
	c := dynamodb.NewFromConfig(cfg, func(d *dynamodb.Options) {
		if o.Endpoint != "" {
			d.BaseEndpoint = &o.Endpoint
		}
	})
	return &Provider{o, c}, nil
}

// Name names the item.
func (p *Provider) Name() string { return "DynamoDB table " + p.o.Table + ", key " + p.o.Key }

// The attributes of an item.
const (
	attrKey      = "key"
	attrOwner    = "ownerName"
	attrLease    = "leaseDuration" // ms, as text
	attrVersion  = "recordVersionNumber"
	attrReleased = "isReleased"
)

// record is what is read of an item.
type record struct {
	version  string
	lease    time.Duration
	released bool
}

// Acquire writes the item where there is none, or over one that is released or
// has not changed for its lease's length.
func (p *Provider) Acquire(ctx context.Context) (lock.Lease, error) {
	var seen record
	var since time.Time
	return p.o.Wait.Try(ctx, p.Name(), func(ctx context.Context) (lock.Lease, error) {
		have, found, err := p.read(ctx)
		if err != nil {
			return nil, p.fail(err)
		}
		switch {
		case !found:
			return p.take(ctx, "attribute_not_exists(#k)", nil)
		case have.released:
			return p.take(ctx, "#r = :r", map[string]types.AttributeValue{":r": text("1")})
		case have.version != seen.version:
			seen, since = have, p.o.Now()
			return nil, lock.ErrHeld
		case p.o.Now().Sub(since) < have.lease:
			return nil, lock.ErrHeld
		}
		return p.take(ctx, "#v = :old", map[string]types.AttributeValue{":old": text(have.version)})
	})
}

func (p *Provider) fail(err error) error {
	return &lake.Error{Op: "take lock", Kind: lake.Locked, Err: fmt.Errorf("%s: %w", p.Name(), err), Hint: "See that the lock's table can be reached with these credentials."}
}

func (p *Provider) read(ctx context.Context) (r record, found bool, err error) {
	out, err := p.c.GetItem(ctx, &dynamodb.GetItemInput{TableName: &p.o.Table, Key: p.key(), ConsistentRead: aws.Bool(true)})
	if err != nil || len(out.Item) == 0 {
		return r, false, err
	}
	r.version = value(out.Item[attrVersion])
	r.released = out.Item[attrReleased] != nil
	ms, err := strconv.ParseInt(value(out.Item[attrLease]), 10, 64)
	if err != nil {
		return r, false, fmt.Errorf("%s: %w", attrLease, err)
	}
	r.lease = time.Duration(ms) * time.Millisecond
	return r, true, nil
}

// take writes our item on a condition.
func (p *Provider) take(ctx context.Context, condition string, values map[string]types.AttributeValue) (lock.Lease, error) {
	l := &lease{p: p, version: rand.Text(), wrote: p.o.Now()}
	names := map[string]string{}
	for short, attr := range map[string]string{"#k": attrKey, "#r": attrReleased, "#v": attrVersion} {
		if strings.Contains(condition, short) {
			names[short] = attr
		}
	}
	item := p.key()
	item[attrOwner], item[attrVersion], item[attrLease] = text(p.o.Owner), text(l.version), text(strconv.FormatInt(p.o.Lease.Milliseconds(), 10))
	_, err := p.c.PutItem(ctx, &dynamodb.PutItemInput{TableName: &p.o.Table, Item: item, ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values})
	if _, lost := errors.AsType[*types.ConditionalCheckFailedException](err); lost {
		return nil, lock.ErrHeld
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return l, nil
}

func (p *Provider) key() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{attrKey: text(p.o.Key)}
}

type lease struct {
	p       *Provider
	version string
	wrote   time.Time
}

// Verify renews the lease: the item must still be as we wrote it.
func (l *lease) Verify(ctx context.Context) error {
	p, next, now := l.p, rand.Text(), l.p.o.Now()
	if now.Sub(l.wrote) >= p.o.Lease {
		return lock.Lost(p.Name(), errors.New("its time is up"))
	}
	_, err := p.c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &p.o.Table, Key: p.key(),
		UpdateExpression: aws.String("SET #v = :new"), ConditionExpression: aws.String("#v = :old AND #o = :me"),
		ExpressionAttributeNames:  map[string]string{"#v": attrVersion, "#o": attrOwner},
		ExpressionAttributeValues: map[string]types.AttributeValue{":new": text(next), ":old": text(l.version), ":me": text(p.o.Owner)}})
	if err != nil {
		return lock.Lost(p.Name(), err)
	}
	l.version, l.wrote = next, now
	return nil
}

// Release deletes the item if it is ours.
func (l *lease) Release(ctx context.Context) error {
	p := l.p
	_, err := p.c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &p.o.Table, Key: p.key(), ConditionExpression: aws.String("#v = :old AND #o = :me"),
		ExpressionAttributeNames:  map[string]string{"#v": attrVersion, "#o": attrOwner},
		ExpressionAttributeValues: map[string]types.AttributeValue{":old": text(l.version), ":me": text(p.o.Owner)}})
	if err != nil {
		return lock.Lost(p.Name(), err)
	}
	return nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func value(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
