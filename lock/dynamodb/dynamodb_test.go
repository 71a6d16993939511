package dynamodb

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lakesweep/lakesweep/lake"
	"github.com/lakesweep/lakesweep/lock"
)

// Against a server that speaks DynamoDB: LAKESWEEP_TEST_DYNAMODB is its URL.
func TestOneHolderAtATime(t *testing.T) {
	endpoint := os.Getenv("LAKESWEEP_TEST_DYNAMODB")
	if endpoint == "" {
		t.Skip("LAKESWEEP_TEST_DYNAMODB names no server")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	ctx, now := t.Context(), time.Now()
	provider := func(owner string, meanwhile func()) *Provider {
		p, err := Open(ctx, Options{Table: "locks", Key: t.Name(), Region: "us-east-1", Endpoint: endpoint, Owner: owner, Now: func() time.Time { return now },
			Wait: lock.Wait{Attempts: 3, Sleep: func(context.Context, time.Duration) error {
				if meanwhile != nil {
					meanwhile()
				}
				return nil
			}}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	key := attrKey
	if _, err := provider("", nil).c.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: &[]string{"locks"}[0], BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}}, AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}}}); err != nil {
		t.Log(err) // from an earlier run
	}
	a, err := provider("a", nil).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(ctx); err != nil {
		t.Error(err)
	}
	if _, err := provider("b", nil).Acquire(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("a second holder: %v", err)
	}
	b, err := provider("b", func() {
		if err := a.Release(ctx); err != nil {
			t.Fatal(err)
		}
	}).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("a released lease verifies: %v", err)
	}
	// A holder that doesn't renew for a lease's length is dead.
	c, err := provider("c", func() { now = now.Add(time.Minute) }).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Release(ctx); lake.KindOf(err) != lake.Locked {
		t.Errorf("releases another's: %v", err)
	}
	if err := c.Release(ctx); err != nil {
		t.Error(err)
	}
}
