// python3 -m dist.models llama --kv-heads 2 --layers 2 --hidden 32 --heads 4 --seq 16 --batch 8 --vocab 48
func.func private @block(%x: tensor<8x16x32xf32>,
                         %input_layernorm.weight: tensor<32xf32>,
                         %self_attn.q_proj.weight: tensor<32x32xf32>,
                         %self_attn.k_proj.weight: tensor<32x16xf32>,
                         %self_attn.v_proj.weight: tensor<32x16xf32>,
                         %self_attn.o_proj.weight: tensor<32x32xf32>,
                         %post_attention_layernorm.weight: tensor<32xf32>,
                         %mlp.gate_proj.weight: tensor<32x96xf32>,
                         %mlp.up_proj.weight: tensor<32x96xf32>,
                         %mlp.down_proj.weight: tensor<96x32xf32>) -> tensor<8x16x32xf32> {
  %n = nn.rms_norm %x, %input_layernorm.weight {eps = 1.0e-06 : f32} : (tensor<8x16x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %positions = nn.iota {dim = 0 : i64} : () -> tensor<16xi32>
  %q_flat = nn.einsum "b s d, d e -> b s e"(%n, %self_attn.q_proj.weight) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
  %q = nn.rearrange "b s (h k) -> b h s k"(%q_flat) {h = 4 : i64} : (tensor<8x16x32xf32>) -> tensor<8x4x16x8xf32>
  %q_rotated = nn.rope %q, %positions {theta = 10000.0 : f32} : (tensor<8x4x16x8xf32>, tensor<16xi32>) -> tensor<8x4x16x8xf32>
  %k_flat = nn.einsum "b s d, d e -> b s e"(%n, %self_attn.k_proj.weight) : (tensor<8x16x32xf32>, tensor<32x16xf32>) -> tensor<8x16x16xf32>
  %k = nn.rearrange "b s (h k) -> b h s k"(%k_flat) {h = 2 : i64} : (tensor<8x16x16xf32>) -> tensor<8x2x16x8xf32>
  %k_rotated = nn.rope %k, %positions {theta = 10000.0 : f32} : (tensor<8x2x16x8xf32>, tensor<16xi32>) -> tensor<8x2x16x8xf32>
  %v_flat = nn.einsum "b s d, d e -> b s e"(%n, %self_attn.v_proj.weight) : (tensor<8x16x32xf32>, tensor<32x16xf32>) -> tensor<8x16x16xf32>
  %v = nn.rearrange "b s (h k) -> b h s k"(%v_flat) {h = 2 : i64} : (tensor<8x16x16xf32>) -> tensor<8x2x16x8xf32>
  %mixed = nn.attention %q_rotated, %k_rotated, %v {causal, scale = 0.35355339059327373 : f32} : (tensor<8x4x16x8xf32>, tensor<8x2x16x8xf32>, tensor<8x2x16x8xf32>) -> tensor<8x4x16x8xf32>
  %merged = nn.rearrange "b h s k -> b s (h k)"(%mixed) : (tensor<8x4x16x8xf32>) -> tensor<8x16x32xf32>
  %attn = nn.einsum "b s d, d e -> b s e"(%merged, %self_attn.o_proj.weight) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
  %x_1 = arith.addf %x, %attn : tensor<8x16x32xf32>
  %n_1 = nn.rms_norm %x_1, %post_attention_layernorm.weight {eps = 1.0e-06 : f32} : (tensor<8x16x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %gate = nn.einsum "b s d, d e -> b s e"(%n_1, %mlp.gate_proj.weight) : (tensor<8x16x32xf32>, tensor<32x96xf32>) -> tensor<8x16x96xf32>
  %up = nn.einsum "b s d, d e -> b s e"(%n_1, %mlp.up_proj.weight) : (tensor<8x16x32xf32>, tensor<32x96xf32>) -> tensor<8x16x96xf32>
  %act = nn.silu %gate : (tensor<8x16x96xf32>) -> tensor<8x16x96xf32>
  %gated = arith.mulf %act, %up : tensor<8x16x96xf32>
  %mlp = nn.einsum "b s d, d e -> b s e"(%gated, %mlp.down_proj.weight) : (tensor<8x16x96xf32>, tensor<96x32xf32>) -> tensor<8x16x32xf32>
  %x_2 = arith.addf %x_1, %mlp : tensor<8x16x32xf32>
  return %x_2 : tensor<8x16x32xf32>
}

func.func @loss(%tokens: tensor<8x16xi32> {nn.input = "tokens"},
                %targets: tensor<8x16xi32> {nn.input = "targets"},
                %model.embed_tokens.weight: tensor<48x32xf32> {nn.param = "model.embed_tokens.weight", nn.init = "normal 0.02"},
                %model.layers.0.input_layernorm.weight: tensor<32xf32> {nn.param = "model.layers.0.input_layernorm.weight", nn.init = "ones", nn.no_decay},
                %model.layers.0.self_attn.q_proj.weight: tensor<32x32xf32> {nn.param = "model.layers.0.self_attn.q_proj.weight", nn.init = "normal 0.02"},
                %model.layers.0.self_attn.k_proj.weight: tensor<32x16xf32> {nn.param = "model.layers.0.self_attn.k_proj.weight", nn.init = "normal 0.02"},
                %model.layers.0.self_attn.v_proj.weight: tensor<32x16xf32> {nn.param = "model.layers.0.self_attn.v_proj.weight", nn.init = "normal 0.02"},
                %model.layers.0.self_attn.o_proj.weight: tensor<32x32xf32> {nn.param = "model.layers.0.self_attn.o_proj.weight", nn.init = "normal 0.01"},
                %model.layers.0.post_attention_layernorm.weight: tensor<32xf32> {nn.param = "model.layers.0.post_attention_layernorm.weight", nn.init = "ones", nn.no_decay},
                %model.layers.0.mlp.gate_proj.weight: tensor<32x96xf32> {nn.param = "model.layers.0.mlp.gate_proj.weight", nn.init = "normal 0.02"},
                %model.layers.0.mlp.up_proj.weight: tensor<32x96xf32> {nn.param = "model.layers.0.mlp.up_proj.weight", nn.init = "normal 0.02"},
                %model.layers.0.mlp.down_proj.weight: tensor<96x32xf32> {nn.param = "model.layers.0.mlp.down_proj.weight", nn.init = "normal 0.01"},
                %model.layers.1.input_layernorm.weight: tensor<32xf32> {nn.param = "model.layers.1.input_layernorm.weight", nn.init = "ones", nn.no_decay},
                %model.layers.1.self_attn.q_proj.weight: tensor<32x32xf32> {nn.param = "model.layers.1.self_attn.q_proj.weight", nn.init = "normal 0.02"},
                %model.layers.1.self_attn.k_proj.weight: tensor<32x16xf32> {nn.param = "model.layers.1.self_attn.k_proj.weight", nn.init = "normal 0.02"},
                %model.layers.1.self_attn.v_proj.weight: tensor<32x16xf32> {nn.param = "model.layers.1.self_attn.v_proj.weight", nn.init = "normal 0.02"},
                %model.layers.1.self_attn.o_proj.weight: tensor<32x32xf32> {nn.param = "model.layers.1.self_attn.o_proj.weight", nn.init = "normal 0.01"},
                %model.layers.1.post_attention_layernorm.weight: tensor<32xf32> {nn.param = "model.layers.1.post_attention_layernorm.weight", nn.init = "ones", nn.no_decay},
                %model.layers.1.mlp.gate_proj.weight: tensor<32x96xf32> {nn.param = "model.layers.1.mlp.gate_proj.weight", nn.init = "normal 0.02"},
                %model.layers.1.mlp.up_proj.weight: tensor<32x96xf32> {nn.param = "model.layers.1.mlp.up_proj.weight", nn.init = "normal 0.02"},
                %model.layers.1.mlp.down_proj.weight: tensor<96x32xf32> {nn.param = "model.layers.1.mlp.down_proj.weight", nn.init = "normal 0.01"},
                %model.norm.weight: tensor<32xf32> {nn.param = "model.norm.weight", nn.init = "ones", nn.no_decay},
                %lm_head.weight: tensor<48x32xf32> {nn.param = "lm_head.weight", nn.init = "normal 0.02"}) -> tensor<f32> {
  %x = nn.embedding %model.embed_tokens.weight, %tokens : (tensor<48x32xf32>, tensor<8x16xi32>) -> tensor<8x16x32xf32>
  %x_1 = func.call @block(%x, %model.layers.0.input_layernorm.weight, %model.layers.0.self_attn.q_proj.weight, %model.layers.0.self_attn.k_proj.weight, %model.layers.0.self_attn.v_proj.weight, %model.layers.0.self_attn.o_proj.weight, %model.layers.0.post_attention_layernorm.weight, %model.layers.0.mlp.gate_proj.weight, %model.layers.0.mlp.up_proj.weight, %model.layers.0.mlp.down_proj.weight) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<32x96xf32>, tensor<96x32xf32>) -> tensor<8x16x32xf32>
  %x_2 = func.call @block(%x_1, %model.layers.1.input_layernorm.weight, %model.layers.1.self_attn.q_proj.weight, %model.layers.1.self_attn.k_proj.weight, %model.layers.1.self_attn.v_proj.weight, %model.layers.1.self_attn.o_proj.weight, %model.layers.1.post_attention_layernorm.weight, %model.layers.1.mlp.gate_proj.weight, %model.layers.1.mlp.up_proj.weight, %model.layers.1.mlp.down_proj.weight) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<32x96xf32>, tensor<96x32xf32>) -> tensor<8x16x32xf32>
  %n = nn.rms_norm %x_2, %model.norm.weight {eps = 1.0e-06 : f32} : (tensor<8x16x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %logits = nn.einsum "b s d, v d -> b s v"(%n, %lm_head.weight) : (tensor<8x16x32xf32>, tensor<48x32xf32>) -> tensor<8x16x48xf32>
  %losses = nn.cross_entropy %logits, %targets : (tensor<8x16x48xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
  %sum = nn.reduce sum "b s ->"(%losses) : (tensor<8x16xf32>) -> tensor<f32>
  %count = arith.constant dense<128.0> : tensor<f32>
  %loss = arith.divf %sum, %count : tensor<f32>
  return %loss : tensor<f32>
}
