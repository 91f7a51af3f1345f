package import ArborModel
internal import Foundation

/// The model as the store keeps it: its JSON form, which any tool can show.
package enum ModelCodec {
  /// The bytes of the `model` entry.
  package static func encode(_ model: ManagedObjectModel) -> [UInt8] { Array(model.compactJSON) }

  /// The bytes of the `model-digest` entry.
  package static func encode(_ digest: ModelDigest) -> [UInt8] {
    withUnsafeBytes(of: digest.bits.littleEndian) { Array($0) }
  }

  /// The digest of bytes that ``encode(_:)`` made; nil for any others.
  package static func decodeDigest(_ bytes: UnsafeRawBufferPointer) -> ModelDigest? {
    guard bytes.count == 16 else { return nil }
    return ModelDigest(bits: UInt128(littleEndian: bytes.loadUnaligned(as: UInt128.self)))
  }

  /// The model of bytes that ``encode(_:)`` made.
  ///
  /// - Throws: `corrupted`.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(StoreError) -> ManagedObjectModel {
    do throws(ArborError) {
      return try ManagedObjectModel(json: Data(bytes))
    } catch {
      throw .corrupted(what: "The stored model cannot be read: \(error.message)")
    }
  }
}
