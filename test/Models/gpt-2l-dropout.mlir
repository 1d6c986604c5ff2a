// python3 -m dist.models gpt --dropout 0.1 --layers 2 --hidden 32 --heads 4 --seq 16 --batch 8 --vocab 48
func.func private @block(%x: tensor<8x16x32xf32>,
                         %key: tensor<2xi32>,
                         %ln_1.weight: tensor<32xf32>,
                         %ln_1.bias: tensor<32xf32>,
                         %attn.c_attn.weight: tensor<32x96xf32>,
                         %attn.c_attn.bias: tensor<96xf32>,
                         %attn.c_proj.weight: tensor<32x32xf32>,
                         %attn.c_proj.bias: tensor<32xf32>,
                         %ln_2.weight: tensor<32xf32>,
                         %ln_2.bias: tensor<32xf32>,
                         %mlp.c_fc.weight: tensor<32x128xf32>,
                         %mlp.c_fc.bias: tensor<128xf32>,
                         %mlp.c_proj.weight: tensor<128x32xf32>,
                         %mlp.c_proj.bias: tensor<32xf32>) -> tensor<8x16x32xf32> {
  %n = nn.layer_norm %x, %ln_1.weight, %ln_1.bias {eps = 1.0e-05 : f32} : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %qkv = nn.einsum "b s d, d e -> b s e"(%n, %attn.c_attn.weight) : (tensor<8x16x32xf32>, tensor<32x96xf32>) -> tensor<8x16x96xf32>
  %qkv_bias = nn.repeat "e -> b s e"(%attn.c_attn.bias) : (tensor<96xf32>) -> tensor<8x16x96xf32>
  %qkv_1 = arith.addf %qkv, %qkv_bias : tensor<8x16x96xf32>
  %split = nn.rearrange "b s (c h k) -> c b h s k"(%qkv_1) {c = 3 : i64, h = 4 : i64} : (tensor<8x16x96xf32>) -> tensor<3x8x4x16x8xf32>
  %q_slice = nn.slice %split {starts = array<i64: 0, 0, 0, 0, 0>, limits = array<i64: 1, 8, 4, 16, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x8x4x16x8xf32>) -> tensor<1x8x4x16x8xf32>
  %q = nn.rearrange "1 b h s k -> b h s k"(%q_slice) : (tensor<1x8x4x16x8xf32>) -> tensor<8x4x16x8xf32>
  %k_slice = nn.slice %split {starts = array<i64: 1, 0, 0, 0, 0>, limits = array<i64: 2, 8, 4, 16, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x8x4x16x8xf32>) -> tensor<1x8x4x16x8xf32>
  %k = nn.rearrange "1 b h s k -> b h s k"(%k_slice) : (tensor<1x8x4x16x8xf32>) -> tensor<8x4x16x8xf32>
  %v_slice = nn.slice %split {starts = array<i64: 2, 0, 0, 0, 0>, limits = array<i64: 3, 8, 4, 16, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x8x4x16x8xf32>) -> tensor<1x8x4x16x8xf32>
  %v = nn.rearrange "1 b h s k -> b h s k"(%v_slice) : (tensor<1x8x4x16x8xf32>) -> tensor<8x4x16x8xf32>
  %key_1 = nn.fold_in %key {data = 0 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %mixed = nn.attention %q, %k, %v key(%key_1) {causal, scale = 0.35355339059327373 : f32, dropout = 0.1 : f32} : (tensor<8x4x16x8xf32>, tensor<8x4x16x8xf32>, tensor<8x4x16x8xf32>, tensor<2xi32>) -> tensor<8x4x16x8xf32>
  %merged = nn.rearrange "b h s k -> b s (h k)"(%mixed) : (tensor<8x4x16x8xf32>) -> tensor<8x16x32xf32>
  %attn = nn.einsum "b s d, d e -> b s e"(%merged, %attn.c_proj.weight) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
  %attn_bias = nn.repeat "e -> b s e"(%attn.c_proj.bias) : (tensor<32xf32>) -> tensor<8x16x32xf32>
  %attn_1 = arith.addf %attn, %attn_bias : tensor<8x16x32xf32>
  %key_2 = nn.fold_in %key {data = 1 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %dropped = nn.dropout %attn_1, %key_2 {rate = 0.1 : f32} : (tensor<8x16x32xf32>, tensor<2xi32>) -> tensor<8x16x32xf32>
  %x_1 = arith.addf %x, %dropped : tensor<8x16x32xf32>
  %n_1 = nn.layer_norm %x_1, %ln_2.weight, %ln_2.bias {eps = 1.0e-05 : f32} : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %up = nn.einsum "b s d, d e -> b s e"(%n_1, %mlp.c_fc.weight) : (tensor<8x16x32xf32>, tensor<32x128xf32>) -> tensor<8x16x128xf32>
  %up_bias = nn.repeat "e -> b s e"(%mlp.c_fc.bias) : (tensor<128xf32>) -> tensor<8x16x128xf32>
  %up_1 = arith.addf %up, %up_bias : tensor<8x16x128xf32>
  %act = nn.gelu %up_1 {approximate = "tanh"} : (tensor<8x16x128xf32>) -> tensor<8x16x128xf32>
  %mlp = nn.einsum "b s d, d e -> b s e"(%act, %mlp.c_proj.weight) : (tensor<8x16x128xf32>, tensor<128x32xf32>) -> tensor<8x16x32xf32>
  %mlp_bias = nn.repeat "e -> b s e"(%mlp.c_proj.bias) : (tensor<32xf32>) -> tensor<8x16x32xf32>
  %mlp_1 = arith.addf %mlp, %mlp_bias : tensor<8x16x32xf32>
  %key_3 = nn.fold_in %key {data = 2 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %dropped_1 = nn.dropout %mlp_1, %key_3 {rate = 0.1 : f32} : (tensor<8x16x32xf32>, tensor<2xi32>) -> tensor<8x16x32xf32>
  %x_2 = arith.addf %x_1, %dropped_1 : tensor<8x16x32xf32>
  return %x_2 : tensor<8x16x32xf32>
}

func.func @loss(%tokens: tensor<8x16xi32> {nn.input = "tokens"},
                %targets: tensor<8x16xi32> {nn.input = "targets"},
                %key: tensor<2xi32> {nn.key},
                %wte.weight: tensor<48x32xf32> {nn.param = "wte.weight", nn.init = "normal 0.02"},
                %wpe.weight: tensor<16x32xf32> {nn.param = "wpe.weight", nn.init = "normal 0.02"},
                %h.0.ln_1.weight: tensor<32xf32> {nn.param = "h.0.ln_1.weight", nn.init = "ones", nn.no_decay},
                %h.0.ln_1.bias: tensor<32xf32> {nn.param = "h.0.ln_1.bias", nn.init = "zeros", nn.no_decay},
                %h.0.attn.c_attn.weight: tensor<32x96xf32> {nn.param = "h.0.attn.c_attn.weight", nn.init = "normal 0.02"},
                %h.0.attn.c_attn.bias: tensor<96xf32> {nn.param = "h.0.attn.c_attn.bias", nn.init = "zeros", nn.no_decay},
                %h.0.attn.c_proj.weight: tensor<32x32xf32> {nn.param = "h.0.attn.c_proj.weight", nn.init = "normal 0.01"},
                %h.0.attn.c_proj.bias: tensor<32xf32> {nn.param = "h.0.attn.c_proj.bias", nn.init = "zeros", nn.no_decay},
                %h.0.ln_2.weight: tensor<32xf32> {nn.param = "h.0.ln_2.weight", nn.init = "ones", nn.no_decay},
                %h.0.ln_2.bias: tensor<32xf32> {nn.param = "h.0.ln_2.bias", nn.init = "zeros", nn.no_decay},
                %h.0.mlp.c_fc.weight: tensor<32x128xf32> {nn.param = "h.0.mlp.c_fc.weight", nn.init = "normal 0.02"},
                %h.0.mlp.c_fc.bias: tensor<128xf32> {nn.param = "h.0.mlp.c_fc.bias", nn.init = "zeros", nn.no_decay},
                %h.0.mlp.c_proj.weight: tensor<128x32xf32> {nn.param = "h.0.mlp.c_proj.weight", nn.init = "normal 0.01"},
                %h.0.mlp.c_proj.bias: tensor<32xf32> {nn.param = "h.0.mlp.c_proj.bias", nn.init = "zeros", nn.no_decay},
                %h.1.ln_1.weight: tensor<32xf32> {nn.param = "h.1.ln_1.weight", nn.init = "ones", nn.no_decay},
                %h.1.ln_1.bias: tensor<32xf32> {nn.param = "h.1.ln_1.bias", nn.init = "zeros", nn.no_decay},
                %h.1.attn.c_attn.weight: tensor<32x96xf32> {nn.param = "h.1.attn.c_attn.weight", nn.init = "normal 0.02"},
                %h.1.attn.c_attn.bias: tensor<96xf32> {nn.param = "h.1.attn.c_attn.bias", nn.init = "zeros", nn.no_decay},
                %h.1.attn.c_proj.weight: tensor<32x32xf32> {nn.param = "h.1.attn.c_proj.weight", nn.init = "normal 0.01"},
                %h.1.attn.c_proj.bias: tensor<32xf32> {nn.param = "h.1.attn.c_proj.bias", nn.init = "zeros", nn.no_decay},
                %h.1.ln_2.weight: tensor<32xf32> {nn.param = "h.1.ln_2.weight", nn.init = "ones", nn.no_decay},
                %h.1.ln_2.bias: tensor<32xf32> {nn.param = "h.1.ln_2.bias", nn.init = "zeros", nn.no_decay},
                %h.1.mlp.c_fc.weight: tensor<32x128xf32> {nn.param = "h.1.mlp.c_fc.weight", nn.init = "normal 0.02"},
                %h.1.mlp.c_fc.bias: tensor<128xf32> {nn.param = "h.1.mlp.c_fc.bias", nn.init = "zeros", nn.no_decay},
                %h.1.mlp.c_proj.weight: tensor<128x32xf32> {nn.param = "h.1.mlp.c_proj.weight", nn.init = "normal 0.01"},
                %h.1.mlp.c_proj.bias: tensor<32xf32> {nn.param = "h.1.mlp.c_proj.bias", nn.init = "zeros", nn.no_decay},
                %ln_f.weight: tensor<32xf32> {nn.param = "ln_f.weight", nn.init = "ones", nn.no_decay},
                %ln_f.bias: tensor<32xf32> {nn.param = "ln_f.bias", nn.init = "zeros", nn.no_decay}) -> tensor<f32> {
  %token = nn.embedding %wte.weight, %tokens : (tensor<48x32xf32>, tensor<8x16xi32>) -> tensor<8x16x32xf32>
  %position = nn.repeat "s d -> b s d"(%wpe.weight) : (tensor<16x32xf32>) -> tensor<8x16x32xf32>
  %x = arith.addf %token, %position : tensor<8x16x32xf32>
  %key_1 = nn.fold_in %key {data = 2 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %dropped = nn.dropout %x, %key_1 {rate = 0.1 : f32} : (tensor<8x16x32xf32>, tensor<2xi32>) -> tensor<8x16x32xf32>
  %layer_key = nn.fold_in %key {data = 0 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %x_1 = func.call @block(%dropped, %layer_key, %h.0.ln_1.weight, %h.0.ln_1.bias, %h.0.attn.c_attn.weight, %h.0.attn.c_attn.bias, %h.0.attn.c_proj.weight, %h.0.attn.c_proj.bias, %h.0.ln_2.weight, %h.0.ln_2.bias, %h.0.mlp.c_fc.weight, %h.0.mlp.c_fc.bias, %h.0.mlp.c_proj.weight, %h.0.mlp.c_proj.bias) : (tensor<8x16x32xf32>, tensor<2xi32>, tensor<32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<96xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x128xf32>, tensor<128xf32>, tensor<128x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %layer_key_1 = nn.fold_in %key {data = 1 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  %x_2 = func.call @block(%x_1, %layer_key_1, %h.1.ln_1.weight, %h.1.ln_1.bias, %h.1.attn.c_attn.weight, %h.1.attn.c_attn.bias, %h.1.attn.c_proj.weight, %h.1.attn.c_proj.bias, %h.1.ln_2.weight, %h.1.ln_2.bias, %h.1.mlp.c_fc.weight, %h.1.mlp.c_fc.bias, %h.1.mlp.c_proj.weight, %h.1.mlp.c_proj.bias) : (tensor<8x16x32xf32>, tensor<2xi32>, tensor<32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<96xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x128xf32>, tensor<128xf32>, tensor<128x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %n = nn.layer_norm %x_2, %ln_f.weight, %ln_f.bias {eps = 1.0e-05 : f32} : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  %logits = nn.einsum "b s d, v d -> b s v"(%n, %wte.weight) : (tensor<8x16x32xf32>, tensor<48x32xf32>) -> tensor<8x16x48xf32>
  %losses = nn.cross_entropy %logits, %targets : (tensor<8x16x48xf32>, tensor<8x16xi32>) -> tensor<8x16xf32>
  %sum = nn.reduce sum "b s ->"(%losses) : (tensor<8x16xf32>) -> tensor<f32>
  %count = arith.constant dense<128.0> : tensor<f32>
  %loss = arith.divf %sum, %count : tensor<f32>
  return %loss : tensor<f32>
}
