"""Confluent's own serializers, one command a line on stdin (JSON), one answer a line on stdout."""
import base64, json, sys
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory


def shop():
    """The file shop.proto of run.ts, as a descriptor."""
    file = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    field = descriptor_pb2.FieldDescriptorProto
    file.message_type.add(name="Other")
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL, json_name="id")
    order.field.add(name="cents", number=2, type=field.TYPE_INT64, label=field.LABEL_OPTIONAL, json_name="cents")
    item = order.nested_type.add(name="Item")
    item.field.add(name="sku", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL, json_name="sku")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


message_class = shop()


def run(command):
    client = SchemaRegistryClient({"url": command["registry"]})
    context = SerializationContext(command["topic"], MessageField.VALUE)
    kind, encodes = command["format"], command["op"] == "encode"
    if kind == "avro":
        if encodes:
            return base64.b64encode(AvroSerializer(client, command["schema"])(command["value"], context)).decode()
        return AvroDeserializer(client, command["schema"])(base64.b64decode(command["bytes"]), context)
    if kind == "json":
        if encodes:
            return base64.b64encode(JSONSerializer(command["schema"], client)(command["value"], context)).decode()
        return JSONDeserializer(command["schema"])(base64.b64decode(command["bytes"]), context)
    message = message_class(command["message"])
    if encodes:
        value = json_format.ParseDict(command["value"], message())
        return base64.b64encode(ProtobufSerializer(message, client, {"use.deprecated.format": False})(value, context)).decode()
    value = ProtobufDeserializer(message, {"use.deprecated.format": False})(base64.b64decode(command["bytes"]), context)
    return json_format.MessageToDict(value)


for line in sys.stdin:
    try:
        print(json.dumps({"ok": run(json.loads(line))}), flush=True)
    except Exception as error:  # told to who asked
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
